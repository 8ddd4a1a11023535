// The keyboard: `/` filters, `j` and `k` choose a row, Enter opens it, `?` helps, Escape leaves.

import type { Page } from '../../support/page.ts';
import { expect, test } from '../../support/fixtures.ts';

/** The path of the row that is chosen, however that is marked. */
const chosen = (ui: Page) => ui.browser.locator('[data-lock]:is([aria-selected=true], [aria-current=true], :focus, :focus-within)').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-lock')));

test('/ goes to the filter, Escape leaves it', async ({ ui, page }) => {
  await ui.openBoard();
  await page.keyboard.press('/');
  await expect(ui.filter).toBeFocused();
  await expect(ui.filter).toHaveValue('');
  await page.keyboard.type('j?k/');
  await expect(ui.filter).toHaveValue('j?k/');
  await expect(ui.help).toBeHidden();
  await page.keyboard.press('Escape');
  await expect(ui.filter).not.toBeFocused();
});

test('j and k choose a row and Enter opens it', async ({ ui, clients, place, page }) => {
  for (const name of ['a', 'b', 'c']) {
    const client = await clients.open(name);
    await client.hold(`${place}/${name}`);
  }
  await ui.openBoard({ q: place, sort: 'path' });
  await expect(ui.locks).toHaveCount(3);
  await page.keyboard.press('j');
  await expect.poll(() => chosen(ui)).toEqual([`${place}/a`]);
  await page.keyboard.press('j');
  await expect.poll(() => chosen(ui)).toEqual([`${place}/b`]);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await expect.poll(() => chosen(ui)).toEqual([`${place}/c`]);
  await page.keyboard.press('k');
  await expect.poll(() => chosen(ui)).toEqual([`${place}/b`]);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL((url) => url.pathname === '/lock' && url.searchParams.get('path') === `${place}/b`);
});

test('? opens the help and Escape closes it', async ({ ui, page }) => {
  await ui.openBoard();
  await expect(ui.help).toBeHidden();
  await page.keyboard.press('?');
  await expect(ui.help).toBeVisible();
  await expect(ui.help).toHaveRole('dialog');
  await expect(ui.help).toContainText(/filter/i);
  await page.keyboard.press('Escape');
  await expect(ui.help).toBeHidden();
});

test('what is chosen stays chosen when rows move', async ({ ui, clients, place, page }) => {
  const [a, b, c] = await clients.openAll('a', 'b', 'c');
  await a!.hold(`${place}/a`);
  await b!.hold(`${place}/b`);
  await ui.openBoard({ q: place, sort: 'path' });
  await expect(ui.locks).toHaveCount(2);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await expect.poll(() => chosen(ui)).toEqual([`${place}/b`]);
  await c!.hold(`${place}/aa`);
  // While a row is chosen the others keep their places; `a` applies the new order.
  await expect(async () => {
    await page.keyboard.press('a');
    await expect(ui.locks).toHaveCount(3, { timeout: 100 });
  }).toPass({ intervals: [50] });
  expect(await chosen(ui)).toEqual([`${place}/b`]);
});
