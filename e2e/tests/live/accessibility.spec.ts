// Accessibility of every page, dark and light: axe-core finds nothing serious.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';

for (const colorScheme of ['dark', 'light'] as const) {
  test(`nothing serious on any page, ${colorScheme}`, async ({ ui, clients, lockscope, place, page }) => {
    const path = `${place}/orders`;
    const [a, b, c] = await clients.openAll('a', 'b', 'c');
    const queue = [await a!.hold(path), await b!.queue(path), await c!.queue(path)];
    await (await clients.open('d')).create(`${place}/orphaned/${'0'.repeat(32)}__lock__`, { sequence: true });
    await lockscope.knows(path, queue.map(({ node }) => node));
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });

    const check = (what: string) => expectAccessible(page, what);

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
