// Words explain themselves in place, times are local or UTC, rows comfortable or compact, and whoever goes back finds the
// place again.

import { expect, test } from '../../support/fixtures.ts';

test('a word explains itself by a click and by the keyboard', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('live');
  await ui.open(url);
  await ui.isLive();
  const box = page.getByTestId('explanation');
  const stuck = page.getByTestId('need').filter({ hasText: '/app/stuck' });
  await stuck.getByRole('link', { name: 'stuck', exact: true }).click();
  await expect(box).toBeVisible();
  await expect(box).toContainText('40 times the median');
  await page.keyboard.press('Escape');
  await expect(box).toBeHidden();
  await ui.open(`${url}/lock?path=/app/herd`);
  await page.getByTestId('trust').getByRole('link', { name: 'zxid' }).focus();
  await page.keyboard.press('Enter');
  await expect(box).toContainText('one counter for the whole ensemble');
  await expect(page).toHaveURL(/\/lock\?path=/);
  const said = async (word: () => Promise<void>, text: string) => {
    // It has its text before it shows.
    await expect(box).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(box).toBeHidden();
    await word();
    await expect(box).toContainText(text);
  };
  const card = page.getByTestId('dossier').first();
  await said(() => card.getByRole('link', { name: 'Server' }).click(), 'One server of an ensemble');
  await said(() => card.getByRole('link', { name: 'Fencing token' }).click(), 'grows with every hold');
  await said(() => card.locator('.alive').click(), "On some member's list");
  await said(() => page.getByTestId('trust').getByRole('link', { name: 'clients' }).click(), 'What the members of an ensemble report');
  await said(() => page.getByRole('columnheader', { name: 'Liveness' }).getByRole('link').click(), 'Whether the client of a contender is there');
  for (const [liveness, text] of [['silent', 'paused, swapping, or cut off'], ['disconnected', 'none has it'], ['unknown', 'Nothing is known of it yet']] as const) {
    await said(() => page.locator(`.contender .alive[data-liveness=${liveness}]`).first().click(), text);
  }
});

test('times are local, and UTC by a switch that is remembered', async ({ browser, lockscope, clients, place, ui }) => {
  const path = `${place}/orders`;
  const client = await clients.open('a');
  await client.hold(path);
  await client.release();
  const context = await browser.newContext({ timezoneId: 'Asia/Kolkata' });
  const page = await context.newPage();
  await page.goto(`${lockscope.url}/lock?path=${encodeURIComponent(path)}`);
  const until = page.locator('.past-sides time').first();
  const zone = page.getByTestId('zone');
  await expect(zone).toContainText(/Asia\/(Kolkata|Calcutta)/);
  const utc = (await until.getAttribute('title')) ?? '';
  const [hours, minutes] = /(\d\d):(\d\d):\d\d UTC$/.exec(utc)!.slice(1).map(Number) as [number, number];
  const local = (hours * 60 + minutes + 330) % 1440;
  const text = `${String(Math.floor(local / 60)).padStart(2, '0')}:${String(local % 60).padStart(2, '0')}:`;
  await expect(until).toContainText(text);
  await zone.click();
  await expect(until).toContainText('UTC');
  await page.reload();
  await expect(page.getByTestId('zone')).toContainText('UTC');
  await context.close();
  await ui.openBoard();
});

test('rows are compact with d, and stay so', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('live');
  await ui.open(url);
  await ui.isLive();
  const height = async () => (await ui.locks.first().boundingBox())!.height;
  const before = await height();
  await page.keyboard.press('d');
  await expect.poll(height).toBeLessThan(before - 10);
  await page.reload();
  await expect.poll(height).toBeLessThan(before - 10);
});

test('a page begins at its heading, and going back finds the place', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('live');
  await page.setViewportSize({ width: 1280, height: 500 });
  await ui.open(`${url}/?sort=path`);
  await ui.isLive();
  for (let step = 0; step < 12; step++) await page.keyboard.press('j');
  const chosen = page.locator('[data-chosen=true]');
  const path = await chosen.getAttribute('data-lock');
  const scrolled = await page.evaluate(() => scrollY);
  expect(scrolled).toBeGreaterThan(100);
  await page.keyboard.press('Enter');
  const heading = page.getByRole('heading', { level: 1 });
  await expect(page).toHaveURL(/\/lock/);
  await expect(heading).toBeFocused();
  await page.goBack();
  await expect(chosen).toHaveAttribute('data-lock', path!);
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(100);
  await expect(chosen.getByRole('link')).toBeFocused();
});

test('a new problem is announced, once', async ({ ui, page, clients, place, lockscope }) => {
  test.setTimeout(120_000);
  await ui.openBoard();
  await ui.isLive();
  // Two who wait for each other.
  const [a, b] = await clients.openAll('a', 'b');
  await a!.hold(`${place}/one`);
  await b!.hold(`${place}/two`);
  const queued = await a!.queue(`${place}/two`);
  await b!.queue(`${place}/one`);
  await expect.poll(async () => (await lockscope.lock(`${place}/two`))?.verdict).toBe('deadlocked');
  await expect(page.getByTestId('announcements')).toContainText(/New: .*deadlocked/, { timeout: 60_000 });
  expect(queued.node).toBeTruthy();
});

test('a pinned lock stays on top, and a view is kept by name', async ({ ui, page, clients, place }) => {
  for (const name of ['a', 'b', 'c']) await (await clients.open(name)).hold(`${place}/${name}`);
  await ui.openBoard({ q: place, sort: 'path' });
  await ui.isLive();
  const order = () => ui.locks.evaluateAll((rows) => rows.map((row) => row.getAttribute('data-lock')?.split('/').pop()));
  await expect.poll(order).toEqual(['a', 'b', 'c']);
  await ui.lock(`${place}/c`).hover();
  await ui.lock(`${place}/c`).getByRole('button', { name: 'Pin on top' }).click();
  await expect(page).toHaveURL((url) => url.searchParams.get('pin') === `${place}/c`);
  await page.mouse.move(0, 0);
  await expect.poll(order).toEqual(['c', 'a', 'b']);

  const views = page.getByTestId('views');
  await views.getByText('Views').click();
  await views.getByLabel('Name of the view').fill('mine');
  await views.getByRole('button', { name: 'Save' }).click();
  await page.goto('/status');
  await page.goto('/?sort=depth');
  await ui.isLive();
  await views.getByText('Views').click();
  await views.getByRole('link', { name: 'mine' }).click();
  await expect(page).toHaveURL((url) => url.searchParams.get('pin') === `${place}/c` && url.searchParams.get('q') === place);
  await expect.poll(order).toEqual(['c', 'a', 'b']);
});
