// A hidden tab is not painted, and its title is read all the same.

import { expect, test } from '../../support/fixtures.ts';

test('a hidden tab says in its title what is wrong', async ({ page, ui, clients, place }) => {
  await page.addInitScript(() => {
    Object.defineProperty(document, 'hidden', { get: () => true });
    // Nothing is painted.
    window.requestAnimationFrame = () => 0;
  });
  await ui.openBoard({ q: place });
  await ui.isLive();
  // What came before it was hidden is drawn, and no paint follows.
  const [a, b] = await clients.openAll('a', 'b');
  await a!.hold(`${place}/one`);
  await b!.hold(`${place}/two`);
  await expect(ui.locks).toHaveCount(2);
  await a!.queue(`${place}/two`);
  await b!.queue(`${place}/one`);
  await expect(page).toHaveTitle(/deadlocked/);
  await b!.close();
  await expect(page).not.toHaveTitle(/deadlocked/);
});
