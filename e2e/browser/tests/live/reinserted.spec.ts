// A section that fetches itself is taken out while it does, and put in again, as a list that is drawn anew may do: it asks
// once more at once, and waits for nobody.

import { expect, test } from '../../support/fixtures.ts';

for (const { name, address, asks } of [
  { name: 'time-to-lock', address: (path: string) => `/lock?path=${path}`, asks: '/lock/time-to-lock' },
  { name: 'cluster-replicas', address: () => '/status', asks: '/status/cluster' },
]) {
  test(`${name} that is put in again is fetched at once`, async ({ page, ui, clients, place, lockscope }) => {
    const held = await (await clients.open('holder')).hold(place);
    await lockscope.knows(place, [held.node]);
    let asked = 0;
    await page.route(
      ({ pathname }) => pathname === asks,
      async (route) => {
        // The first is never answered.
        if (++asked > 1) await route.continue();
      },
    );
    await ui.open(address(place));
    await expect.poll(() => asked).toBe(1);
    await page.evaluate((name) => {
      const section = document.querySelector(name)!;
      const [parent, next] = [section.parentNode!, section.nextSibling];
      section.remove();
      parent.insertBefore(section, next);
    }, name);
    // Much sooner than its next turn.
    await expect.poll(() => asked, { timeout: 3_000 }).toBeGreaterThan(1);
    await expect(page.locator(name)).not.toContainText('could not be loaded');
  });
}
