// The list of sessions and the page of one, as they are served and the same with JavaScript on.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';

const HOSTILE = '<img src=x onerror="document.title=\'owned\'">';

test('a row says what a session holds, awaits and keeps from others', async ({ ui, clients, lockscope, place }) => {
  const [packer, shipper] = await clients.openAll('packer', 'shipper');
  const held = await packer!.hold(`${place}/orders`);
  const waits = await shipper!.queue(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node, waits.node]);

  await ui.openSessions({ q: place });
  await expect(ui.sessions).toHaveCount(2);
  for (const [column, text] of [['id', held.session], ['who', 'packer'], ['holds', '1'], ['waits', '0'], ['blocks', '1'], ['locks', `${place}/orders`]] as const) {
    await expect(ui.sessionCell(held.session, column)).toHaveText(text);
  }
  await expect(ui.sessionCell(held.session, 'hold')).toContainText(/\d/);
  await expect(ui.sessionCell(waits.session, 'oldest')).toContainText(/\d/);
  await expect(ui.sessionCell(waits.session, 'waits')).toHaveText('1');
  await expect(ui.session(held.session).locator('[data-verdict=deadlocked]')).toHaveCount(0);
});

test('from the list to a session, to its lock and back', async ({ ui, clients, lockscope, place, page }) => {
  const [packer, shipper] = await clients.openAll('packer', 'shipper');
  const held = await packer!.hold(`${place}/orders`);
  const waits = await shipper!.queue(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node, waits.node]);

  await ui.openSessions({ q: 'packer' });
  await ui.session(held.session).getByRole('link').click();
  await expect(page).toHaveURL((url) => url.pathname === '/session' && url.searchParams.get('id') === held.session);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${held.session} packer`);
  await expect(page.getByTestId('sentence')).toHaveText('Holds 1 lock; blocks 1.');
  const spot = page.locator('[data-spot]');
  await expect(spot).toHaveCount(1);
  await expect(spot).toContainText('holds');
  await expect(page.getByTestId('history')).toContainText('took the lock');
  await spot.getByRole('link', { name: `${place}/orders` }).click();
  await ui.openTable();
  await expect(ui.contender(waits.node)).toBeVisible();
  await ui.contenderCell(waits.node, 'session').getByRole('link', { name: waits.session }).click();
  await expect(page.getByTestId('sentence')).toHaveText('Waits for 1 lock.');
});

test('filter and order are a form that needs no script', async ({ ui, clients, lockscope, place, page }) => {
  const [one, other] = await clients.openAll('apple-picker', 'pear-picker');
  const apples = await one!.hold(`${place}/apples`);
  const pears = await other!.hold(`${place}/pears`);
  await lockscope.knows(`${place}/apples`, [apples.node]);
  await lockscope.knows(`${place}/pears`, [pears.node]);
  const order = async () => ui.sessions.evaluateAll((rows) => rows.map((row) => row.getAttribute('data-session')));

  await ui.openSessions({ sort: 'id', q: place });
  const ids = [apples.session, pears.session].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  await expect.poll(order).toEqual(ids);
  await ui.filter.fill(`${place} !pear-picker`);
  await ui.filter.press('Enter');
  await expect(page).toHaveURL((url) => url.searchParams.get('q') === `${place} !pear-picker` && url.searchParams.get('sort') === 'id');
  await expect(ui.session(apples.session)).toBeVisible();
  await expect(ui.session(pears.session)).toHaveCount(0);
  await ui.openSessions({ q: '/nowhere/to/be/found' });
  await expect(page.getByTestId('empty')).toContainText('No session matches "/nowhere/to/be/found".');
});

test('two that wait for each other are marked', async ({ ui, clients, lockscope, place, page }) => {
  const [a, b] = await clients.openAll('anna', 'bert');
  const first = await a!.hold(`${place}/left`);
  const second = await b!.hold(`${place}/right`);
  await lockscope.knows(`${place}/left`, [first.node]);
  await lockscope.knows(`${place}/right`, [second.node]);
  await a!.queue(`${place}/right`);
  await b!.queue(`${place}/left`);

  await expect
    .poll(async () => {
      await ui.openSessions({ q: place });
      return ui.session(first.session).textContent();
    })
    .toMatch(/deadlocked/);
  await expect(ui.sessionCell(first.session, 'state')).toContainText('deadlocked');
  await expect(ui.sessionCell(first.session, 'who')).toHaveText('anna');
  await ui.open(`/session?id=${second.session}`);
  await expect(page.getByTestId('deadlock')).toContainText(/circle/);
  await expect(page.getByTestId('deadlock').getByRole('link')).toHaveAttribute('href', '/waits');
});

test('sessions by application lead to the sessions of one', async ({ ui, clients, lockscope, place, page }) => {
  const [first, second, other] = await clients.openAll('report-1@app-1', 'report-2@app-2', 'mailer@app-1');
  const held = await first!.hold(`${place}/orders`);
  const waits = await second!.queue(`${place}/orders`);
  const alone = await other!.hold(`${place}/mails`);
  await lockscope.knows(`${place}/orders`, [held.node, waits.node]);
  await lockscope.knows(`${place}/mails`, [alone.node]);

  await ui.openSessions({ q: place, group: 'application' });
  const groups = page.getByTestId('groups').locator('tbody tr');
  await expect(groups).toHaveCount(2);
  const reports = groups.filter({ has: page.getByRole('link', { name: 'report' }) });
  // Sessions, holds, waits, and how many it blocks.
  for (const [at, number] of ['2', '1', '1', '1'].entries()) await expect(reports.locator('td').nth(at + 2)).toHaveText(number);
  await expect(groups.first()).toContainText('report');
  await reports.getByRole('link').click();
  await expect(page).toHaveURL((url) => url.searchParams.get('application') === 'report' && url.searchParams.get('group') === null);
  await expect(ui.sessions).toHaveCount(2);
  await expect(ui.session(alone.session)).toHaveCount(0);
  await expect(page.getByTestId('of-group')).toContainText('Sessions of application report.');
  await page.getByTestId('of-group').getByRole('link', { name: 'Show all' }).click();
  await expect(ui.session(alone.session)).toBeVisible();
});

test('sessions by host, and a grouping that there is not', async ({ ui, clients, lockscope, place, page }) => {
  const client = await clients.open('packer');
  const held = await client.hold(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node]);
  await ui.openSessions({ q: place, group: 'host' });
  await expect(page.getByTestId('groups').locator('tbody tr')).toHaveCount(1);
  await expect(page.getByTestId('groups').getByRole('columnheader').first()).toHaveText('Host');
  const answer = await fetch(`${lockscope.url}/api/v1/sessions?group=rack`);
  expect(answer.status).toBe(400);
  expect(((await answer.json()) as { detail: string }).detail).toBe('`rack` is not a value of `group`; use one of session, host, application');
});

test('a name that is markup is shown as text', async ({ ui, clients, lockscope, place, page }) => {
  const client = await clients.open(HOSTILE);
  const held = await client.hold(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node]);
  for (const address of [`/sessions?q=${place}`, `/session?id=${held.session}`]) {
    await ui.open(address);
    await expect(page.getByText('<img src=x').first()).toBeVisible();
    await expect(page.locator('img[src=x]')).toHaveCount(0);
    await expect(page).not.toHaveTitle('owned');
    expect(await ui.overflow()).toBeLessThanOrEqual(0);
  }
});

test('a session that is not there is not found, a wrong id is refused', async ({ ui, page, problems }) => {
  problems.expect(/Failed to load resource: the server responded with a status of 40[04]/);
  const unknown = await ui.open('/session?id=0x7fffffffffff');
  expect(unknown.status()).toBe(404);
  await expect(page.getByTestId('no-session')).toContainText('0x7fffffffffff');
  for (const address of ['/session?id=nonsense', '/session', '/sessions?sort=prettiest']) {
    const wrong = await ui.open(address);
    expect(wrong.status(), address).toBe(address.startsWith('/sessions') ? 200 : 400);
    await expect(page.locator('body')).toContainText(/session id as ZooKeeper prints it|prettiest/);
  }
});

test('a session that leaves stays readable', async ({ ui, clients, lockscope, place, page }) => {
  const client = await clients.open('short-lived');
  const held = await client.hold(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node]);
  await client.release();
  await expect
    .poll(async () => {
      await ui.open(`/session?id=${held.session}`);
      return page.getByTestId('sentence').textContent();
    })
    .toBe('It owns nothing now.');
  await expect(page.getByTestId('history')).toContainText('released it');
});

for (const colorScheme of ['dark', 'light'] as const) {
  test(`nothing serious in the way of anybody, ${colorScheme}`, async ({ ui, clients, lockscope, place, page }) => {
    test.skip(!ui.hasScript, 'axe is a script');
    const [a, b] = await clients.openAll('anna', 'bert');
    const held = await a!.hold(`${place}/orders`);
    const waits = await b!.queue(`${place}/orders`);
    await lockscope.knows(`${place}/orders`, [held.node, waits.node]);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (const address of ['/sessions', `/session?id=${held.session}`]) {
        await ui.open(address);
        await ui.isLive();
        expect(await ui.overflow(), `${address} at ${width}`).toBeLessThanOrEqual(0);
        await expectAccessible(page, address);
      }
    }
  });
}

test('rows stay in place while somebody points at them', async ({ ui, clients, lockscope, place, page }) => {
  test.skip(!ui.hasScript, 'without scripts nothing moves');
  const [a, b, c, d] = await clients.openAll('anna', 'bert', 'carl', 'dora');
  const apples = await a!.hold(`${place}/apples`);
  const pears = await b!.hold(`${place}/pears`);
  const waits = await c!.queue(`${place}/apples`);
  await lockscope.knows(`${place}/apples`, [apples.node, waits.node]);
  await lockscope.knows(`${place}/pears`, [pears.node]);
  await ui.openSessions({ q: `${place} !carl` });
  await ui.isLive();
  const order = async () => ui.sessions.evaluateAll((rows) => rows.map((row) => row.getAttribute('data-session')));
  await expect.poll(order).toEqual([apples.session, pears.session]);

  await ui.session(pears.session).hover();
  await c!.release();
  await d!.queue(`${place}/pears`);
  await expect(ui.sessionCell(pears.session, 'blocks')).toHaveText('1');
  await expect(ui.sessionCell(apples.session, 'blocks')).toHaveText('0');
  expect((await order()).slice(0, 2)).toEqual([apples.session, pears.session]);
  await page.mouse.move(0, 0);
  await expect.poll(async () => (await order())[0]).toBe(pears.session);
});

test('keys: slash filters, escape clears', async ({ ui, clients, lockscope, place, page }) => {
  test.skip(!ui.hasScript, 'keys need a script');
  const client = await clients.open('anna');
  const held = await client.hold(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node]);
  await ui.openSessions();
  await ui.isLive();
  await page.keyboard.press('/');
  await expect(ui.filter).toBeFocused();
  await page.keyboard.type('/nowhere/to/be/found');
  await expect(ui.sessions).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(ui.session(held.session)).toBeVisible();
  await expect(page).toHaveURL((url) => url.search === '');
});
