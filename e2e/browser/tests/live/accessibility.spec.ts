// Accessibility of every page, dark and light, in forced colours, narrow, wide and zoomed: axe-core finds nothing serious, and
// nothing reaches beyond the page's width.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';

type Look = { how: string; media: { colorScheme: 'dark' | 'light'; forcedColors?: 'active' }; width: number; height: number };

const LOOKS: Look[] = [
  { how: 'dark', media: { colorScheme: 'dark' }, width: 1280, height: 720 },
  { how: 'light', media: { colorScheme: 'light' }, width: 1280, height: 720 },
  { how: 'in forced colours', media: { colorScheme: 'dark', forcedColors: 'active' }, width: 1440, height: 900 },
  { how: 'at 320 px', media: { colorScheme: 'light' }, width: 320, height: 640 },
  { how: 'at 1920 px', media: { colorScheme: 'dark' }, width: 1920, height: 1080 },
  // What a browser makes of 1440 by 900.
  { how: 'zoomed to 200 %', media: { colorScheme: 'dark' }, width: 720, height: 450 },
];

for (const { how, media, width, height } of LOOKS) {
  test(`nothing serious on any page, ${how}`, async ({ ui, clients, lockscope, place, page }) => {
    const path = `${place}/orders`;
    const [a, b, c] = await clients.openAll('a', 'b', 'c');
    const queue = [await a!.hold(path), await b!.queue(path), await c!.queue(path)];
    await (await clients.open('d')).create(`${place}/orphaned/${'0'.repeat(32)}__lock__`, { sequence: true });
    await lockscope.knows(path, queue.map(({ node }) => node));
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ ...media, reducedMotion: 'reduce' });

    const check = async (what: string) => {
      await expectAccessible(page, what);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(beyond, `pixels of the ${what} beyond its width`).toBe(0);
    };

    await ui.openBoard({ q: place });
    await expect(ui.lock(path)).toBeVisible();
    await check('board');
    await page.keyboard.press('?');
    await expect(ui.help).toBeVisible();
    await check('help');
    await ui.openLock(path);
    await expect(ui.contender(queue[0]!.node)).toBeVisible();
    await check('lock page');
    await ui.openLock(`${place}/orphaned`);
    await expect(ui.verdict).toContainText(/orphan/i);
    await check('page of an orphan');
    await ui.open('/waits');
    await expect(page.getByTestId('graph').locator('.graph-box')).not.toHaveCount(0);
    await check('waits');
    await ui.open('/status');
    await ui.isLive();
    await check('status');
  });
}
