// Pages of the past: the way in, the band, its keys, links that stay there, and the way back.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';

test('a lock is looked at as it was, by link, keys and strip, and back', async ({ ui, clients, lockscope, place, page, browser }) => {
  const path = `${place}/orders`;
  const [anna, bert] = await clients.openAll('anna', 'bert');
  const first = await anna!.hold(path);
  const second = await bert!.queue(path);
  await lockscope.knows(path, [first.node, second.node]);
  const held = Date.now();
  await anna!.release();
  await bert!.held();
  await lockscope.knows(path, [second.node]);
  const newest = async () => ((await (await fetch(`${lockscope.url}/api/v1/history`)).json()) as { to_at_ms: number }).to_at_ms;
  const released = Date.now();
  await expect.poll(newest).toBeGreaterThan(released);

  const band = page.getByTestId('past-band');
  await expect.poll(async () => (await page.request.get(`/lock?path=${encodeURIComponent(path)}&at=now`)).status()).toBe(200);
  await ui.openLock(path);
  await page.getByTestId('rewind').click();
  await expect(page).toHaveURL(/[?&]at=\d+$/);
  await expect(band.locator('.past-at time')).toHaveAttribute('datetime', /^\d{4}-\d\d-\d\dT/);

  await page.goto(`/lock?path=${encodeURIComponent(path)}&at=${held}`);
  await expect(band).toHaveAttribute('data-at', `${held}`);
  await ui.openTable();
  await expect(ui.contender(first.node)).toBeVisible();
  await expect(ui.contender(second.node)).toBeVisible();
  await expect(page.locator('[data-release]')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Copy link' })).toBeHidden();

  const moment = async () => Number(await band.getAttribute('data-at'));
  await page.keyboard.press('.');
  await expect.poll(moment).toBeGreaterThan(held);
  await expect(ui.contender(first.node)).toHaveCount(0);
  const after = await moment();
  await page.keyboard.press(',');
  await expect.poll(moment).toBeLessThan(after);

  // Whoever is sent the address sees the same, without scripts as well.
  await page.goto(`/lock?path=${encodeURIComponent(path)}&at=${held}`);
  const other = await browser.newContext({ baseURL: lockscope.url, javaScriptEnabled: false });
  const plain = await other.newPage();
  await plain.goto(page.url());
  await expect(plain.getByTestId('past-band')).toHaveAttribute('data-at', `${held}`);
  for (const one of [page, plain]) await expect(one.locator('main')).toContainText('anna holds it. 1 waits.');
  await other.close();

  // Links stay in the past; the key and the strip lead elsewhere.
  await page.getByRole('link', { name: 'Waits' }).click();
  await expect(page).toHaveURL(new RegExp(`/waits\\?at=${held}$`));
  await page.getByTestId('past-strip').locator('a').nth(40).dispatchEvent('click');
  await expect.poll(moment).not.toBe(held);
  await page.keyboard.press('l');
  await expect(page).toHaveURL(/\/waits$/);
  await expect(band).toHaveCount(0);
  await ui.isLive();
});

/** Every page that can be shown of the past. */
const pagesOf = (path: string, session: string) => ['/', `/lock?path=${encodeURIComponent(path)}`, '/waits', '/sessions', `/session?id=${session}`];

test('no page of the past is wider than its window, from 320 to 1920 px', async ({ ui, clients, lockscope, place, page }) => {
  const path = `${place}/a-directory-with-a-rather-long-name/and-one-more-below-it/orders`;
  const [anna, bert] = await clients.openAll('packer-with-a-rather-long-name-of-its-own@app-17.example', 'shipper');
  const queue = [await anna!.hold(path), await bert!.queue(path)];
  await lockscope.knows(path, queue.map(({ node }) => node));
  const at = Date.now();
  const newest = async () => ((await (await fetch(`${lockscope.url}/api/v1/history`)).json()) as { to_at_ms: number }).to_at_ms;
  await expect.poll(newest).toBeGreaterThan(at);
  for (const address of pagesOf(path, queue[0]!.session)) {
    await page.goto(`${address}${address.includes('?') ? '&' : '?'}at=${at}`);
    await expect(page.getByTestId('past-band')).toHaveAttribute('data-at', `${at}`);
    for (const width of [320, 360, 390, 480, 600, 768, 1024, 1280, 1440, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await ui.overflow(), `${address} at ${width} px`).toBeLessThanOrEqual(0);
    }
  }
});

for (const colorScheme of ['dark', 'light'] as const) {
  for (const width of [390, 1440]) {
    test(`nothing serious on pages of the past, ${colorScheme}, ${width} px`, async ({ clients, lockscope, place, page }) => {
      const path = `${place}/orders`;
      const [anna, bert] = await clients.openAll('anna', 'bert');
      const queue = [await anna!.hold(path), await bert!.queue(path)];
      await lockscope.knows(path, queue.map(({ node }) => node));
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const address of pagesOf(path, queue[0]!.session)) {
        // A second ago there was no such lock, perhaps.
        const newest = `${address}${address.includes('?') ? '&' : '?'}at=now`;
        await expect.poll(async () => (await page.request.get(newest)).status()).toBe(200);
        await page.goto(newest);
        await expect(page.getByTestId('past-band')).toBeVisible();
        await expectAccessible(page, address);
      }
    });
  }
}
