// Dark and light: from the system at first, by the switch after that, and remembered.

import { expect, test } from '../../support/fixtures.ts';

for (const system of ['dark', 'light'] as const) {
  test(`a ${system} system, switched and remembered`, async ({ ui, page }) => {
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const brightness = async () => {
      const [r, g, b] = ((await background()).match(/[\d.]+/g) ?? []).map(Number);
      return (r ?? 0) + (g ?? 0) + (b ?? 0);
    };
    await page.emulateMedia({ colorScheme: 'dark' });
    await ui.openBoard();
    const dark = await brightness();
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(brightness).toBeGreaterThan(dark);
    const light = await brightness();

    await page.emulateMedia({ colorScheme: system });
    const [own, other] = system === 'dark' ? [dark, light] : [light, dark];
    await expect.poll(brightness).toBe(own);
    await page.getByTestId('theme').click();
    await expect.poll(brightness).toBe(other);
    await page.reload();
    await ui.hydrated();
    await expect.poll(brightness).toBe(other);
    await ui.open('/status');
    await expect.poll(brightness).toBe(other);
    await page.getByTestId('theme').click();
    await expect.poll(brightness).toBe(own);
  });
}
