// A lock over time: the section of its page that the server draws, fetched as it comes into view, zoomed by links, by a
// drag and without scripts; and what it says where nothing is known.

import type { Page } from '@playwright/test';

import { expectAccessible } from '../../support/axe.ts';
import type { Client, Clients } from '../../support/clients.ts';
import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';

/** Two hold one after the other, and the second holds still. */
async function handedOver(clients: Clients, lockscope: Lockscope, path: string): Promise<Client> {
  const [anna, bert] = await clients.openAll('anna', 'bert');
  const first = await anna!.hold(path);
  const second = await bert!.queue(path);
  await lockscope.knows(path, [first.node, second.node]);
  await anna!.release();
  await bert!.held();
  await lockscope.knows(path, [second.node]);
  await kept(lockscope, path, 2);
  return bert!;
}

/** Waits until so many holds of a lock are told. */
async function kept(lockscope: Lockscope, path: string, count: number): Promise<void> {
  const holds = async () => {
    const answer = await fetch(`${lockscope.url}/api/v1/history/holds?path=${encodeURIComponent(path)}`);
    return ((await answer.json()) as { holds: { held_at_ms: number | null }[] }).holds.filter(({ held_at_ms }) => held_at_ms !== null).length;
  };
  await expect.poll(holds).toBe(count);
}

const section = (page: Page) => page.getByTestId('over-time');
const plot = (page: Page) => page.getByTestId('ot-plot');
const holders = (page: Page) => plot(page).locator('.ot-hold').evaluateAll((bars) => bars.map((bar) => bar.getAttribute('data-client')));
const address = (path: string, more = '') => `/lock?path=${encodeURIComponent(path)}${more}`;

test('two holders stand in the strip in their order, and a click leads to the moment', async ({ ui, clients, lockscope, place, page }) => {
  const path = `${place}/orders`;
  const begun = Date.now() - 1_000;
  await handedOver(clients, lockscope, path);
  const handed = Date.now() + 1_000;
  await ui.open(address(path));
  // Nothing is asked before it comes into view, or the key is pressed.
  await page.keyboard.press('t');
  await expect(plot(page)).toBeVisible();
  await expect(plot(page)).toBeInViewport();
  await expect.poll(() => holders(page)).toEqual(['anna', 'bert']);
  await expect(page.getByTestId('ot-summary')).toContainText('held by 2 clients');
  await expect(page.getByTestId('ot-events')).toContainText('anna held for');
  await expect(page.getByTestId('ot-events')).toContainText('bert holds for');

  // Near by, where each has room.
  await ui.open(address(path, `&from=${begun}&to=${Math.max(handed, begun + 10_000)}`));
  const at = await plot(page).locator('.ot-hold[data-client=anna]').getAttribute('href');
  await plot(page).locator('.ot-hold[data-client=anna]').click();
  await expect(page.getByTestId('past-band')).toBeVisible();
  await expect(page).toHaveURL(/[?&]at=\d+/);
  expect(at).toMatch(/&from=\d+&to=\d+&at=\d+$/);
  await expect(page.getByTestId('ot-cursor')).toHaveCount(1);
  await expect(page.getByTestId('trust')).toContainText('link was live then');
  await expect.poll(() => holders(page)).toEqual(['anna', 'bert']);
  // From the list as well, and the key is there in the past.
  await page.keyboard.press('t');
  await expect(plot(page)).toBeInViewport();
  await page.getByTestId('ot-events').locator('li', { hasText: 'anna held for' }).getByRole('link').click();
  await expect(page.locator('main')).toContainText(/holds it/);
  await expect(page.locator('main')).not.toContainText('bert holds it');
});

test('a range is chosen by link, by drag and by steps, and the address keeps it', async ({ ui, clients, lockscope, place, page }) => {
  const path = `${place}/orders`;
  await handedOver(clients, lockscope, path);
  await ui.open(address(path));
  await ui.mark();
  await page.keyboard.press('t');
  const ranges = page.getByTestId('ot-ranges');
  await expect(plot(page)).toBeVisible();
  await ranges.getByRole('link', { name: '6 h' }).click();
  await expect(page).toHaveURL(/[?&]range=6h$/);
  await expect(ranges.getByRole('link', { name: '6 h' })).toHaveAttribute('aria-current', 'true');
  await expect(ranges.getByRole('link', { name: '6 h' })).toBeFocused();
  await expect(section(page)).toContainText('One piece is 2 minutes');
  await section(page).getByRole('link', { name: 'compare with the day before' }).click();
  await expect(page).toHaveURL(/range=6h&compare=1d$/);
  await expect(page.getByTestId('ot-not-compared')).toBeVisible();

  const ends = async () => [Number(await plot(page).getAttribute('data-from')), Number(await plot(page).getAttribute('data-to'))];
  const [from, to] = await ends();
  const box = (await plot(page).boundingBox())!;
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.75, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.9, y, { steps: 5 });
  await page.mouse.up();
  await expect(page).toHaveURL(/[?&]from=\d+&to=\d+/);
  await expect.poll(async () => (await ends())[0]).toBeGreaterThan(from!);
  const zoomed = await ends();
  const part = (zoomed[1]! - zoomed[0]!) / (to! - from!);
  expect(part).toBeGreaterThan(0.14);
  expect(part).toBeLessThan(0.16);
  await section(page).getByRole('link', { name: 'Zoom out' }).click();
  await expect.poll(async () => (await ends())[1]! - (await ends())[0]!).toBeGreaterThan(zoomed[1]! - zoomed[0]!);
  await ui.isSameDocument();

  // Whoever is sent the address sees the same, in the document.
  const html = await (await page.request.get(page.url())).text();
  expect(html).toContain(`data-from="${(await ends())[0]}"`);
});

test('time that was not recorded is hatched and named', async ({ zookeeper, clients, place, page, ui }) => {
  const path = `${place}/orders`;
  const [anna] = await clients.openAll('anna');
  const { node } = await anna!.hold(path);
  const first = await Lockscope.serve(zookeeper.hosts);
  await first.knows(path, [node]);
  await expect.poll(async () => (await (await fetch(`${first.url}/api/v1/history`)).json() as { to_at_ms: number | null }).to_at_ms).toBeTruthy();
  const again = await first.restart();
  try {
    await again.knows(path, [node]);
    const gaps = async () => ((await (await fetch(`${again.url}/api/v1/history`)).json()) as { gaps: unknown[] }).gaps.length;
    await expect.poll(gaps).toBeGreaterThan(0);
    await ui.open(`${again.url}${address(path, '&range=15m')}`);
    await expect(page.getByTestId('ot-gap').last()).toBeAttached();
    await expect(page.getByTestId('ot-gaps')).toContainText('Lockscope was not running');
    await page.goto('about:blank');
  } finally {
    await again.kill();
  }
});

test('without scripts links lead through it, and a table says the same', async ({ clients, lockscope, place, browser }) => {
  const path = `${place}/orders`;
  await handedOver(clients, lockscope, path);
  // The minute that is under way is written each ten seconds, and without scripts nothing asks again.
  const minutes = async () => {
    const answer = await fetch(`${lockscope.url}/api/v1/history/lock?path=${encodeURIComponent(path)}`);
    return ((await answer.json()) as { points: unknown[] }).points.length;
  };
  await expect.poll(minutes).toBeGreaterThan(0);
  const context = await browser.newContext({ baseURL: lockscope.url, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address(path));
  await section(page).getByRole('link', { name: '1 h', exact: true }).click();
  await expect(page).toHaveURL(/range=1h#over-time$/);
  expect(await holders(page)).toEqual(['anna', 'bert']);
  const table = page.getByTestId('ot-table');
  await table.locator('summary').click();
  await expect(table.getByRole('columnheader', { name: 'Most waiting' })).toBeVisible();
  await expect(table.locator('tbody tr').last()).toContainText(/anna|bert/);
  await section(page).getByRole('link', { name: 'Zoom in' }).click();
  await expect(page).toHaveURL(/from=\d+&to=\d+#over-time$/);
  await context.close();
});

test('it is there after a way from the board, and for a lock that is gone', async ({ ui, clients, lockscope, caretaker, place, page }) => {
  const path = `${place}/orders`;
  const bert = await handedOver(clients, lockscope, path);
  await ui.openBoard({ q: place });
  await ui.lock(path).locator('a').first().click();
  await expect(page).toHaveURL(/\/lock\?/);
  await page.keyboard.press('t');
  await expect.poll(() => holders(page)).toEqual(['anna', 'bert']);
  await bert.release();
  await caretaker.delete(path);
  await expect(page.getByTestId('no-lock')).toBeVisible();
  // How a hold ended is known a moment later.
  await kept(lockscope, path, 2);
  await page.keyboard.press('t');
  await page.getByTestId('ot-ranges').getByRole('link', { name: '15 min' }).click();
  await expect.poll(() => holders(page)).toEqual(['anna', 'bert']);
});

for (const colorScheme of ['dark', 'light'] as const) {
  for (const width of [390, 1440]) {
    test(`nothing serious, and nothing wider than the window, ${colorScheme}, ${width} px`, async ({ ui, clients, lockscope, place, page }) => {
      const path = `${place}/orders-${'with-a-very-long-name-'.repeat(6)}`;
      await handedOver(clients, lockscope, path);
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await ui.open(address(path, '&range=1h&compare=1w'));
      await expect(plot(page)).toBeVisible();
      await page.getByTestId('ot-table').locator('summary').click();
      await expectAccessible(page, 'a lock over time');
      expect(await ui.overflow()).toBeLessThanOrEqual(0);
    });
  }
}
