// Dark and light: from the system at first, by the switch after that, and remembered.

import { expect, test } from '../../support/fixtures.ts';

for (const system of ['dark', 'light'] as const) {
  test(`a ${system} system, switched and remembered`, async ({ ui, page }) => {
    const brightness = async () => {
      const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const canvas = await page.evaluate((colour) => {
        const context = document.createElement('canvas').getContext('2d')!;
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
      }, colour);
      return canvas.reduce((sum, part) => sum + part, 0);
    };
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await ui.openBoard();
    const dark = await brightness();
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(brightness).toBeGreaterThan(dark + 300);
    const light = await brightness();

    await page.emulateMedia({ colorScheme: system });
    const [own, other, otherName] = system === 'dark' ? [dark, light, 'light'] : [light, dark, 'dark'];
    await expect.poll(brightness).toBe(own);
    // The switch goes round: as the system has it, dark, light.
    const switchTo = async (theme: string | null) => {
      for (let click = 0; click < 2; click++) {
        await page.getByTestId('theme').click();
        if ((await page.locator('html').getAttribute('data-theme')) === theme) return;
      }
    };
    await switchTo(otherName);
    await expect.poll(brightness).toBe(other);
    await page.reload();
    await ui.hydrated();
    await expect.poll(brightness).toBe(other);
    await ui.open('/status');
    await expect.poll(brightness).toBe(other);
    await switchTo(null);
    await expect.poll(brightness).toBe(own);
    await page.reload();
    await ui.hydrated();
    await expect.poll(brightness).toBe(own);
  });
}
