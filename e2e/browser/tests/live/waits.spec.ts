// The page of waits while it is looked at: it follows, boxes can be chosen, the drawing can be moved and enlarged.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';

test('the graph follows, and a box is chosen by pointer and by key', async ({ ui, clients, place, page }) => {
  const [anna, bert] = await clients.openAll('anna', 'bert');
  await ui.open('/waits');
  await ui.mark();
  await anna!.hold(`${place}/orders`);
  await bert!.queue(`${place}/orders`);
  const boxes = page.getByTestId('graph').locator('.graph-box');
  await expect(boxes).toHaveCount(2);

  await boxes.first().click();
  await expect(boxes.first()).toHaveAttribute('aria-pressed', 'true');
  await expect(page).toHaveURL(/\/waits\?session=0x[0-9a-f]+$/);
  await boxes.first().focus();
  await page.keyboard.press('Enter');
  await expect(boxes.first()).toHaveAttribute('aria-pressed', 'false');
  await expect(page).toHaveURL(/\/waits$/);

  await anna!.release();
  await bert!.held();
  await expect(page.getByTestId('lead')).toContainText('Nobody waits.');
  await ui.isSameDocument();
});

test('the drawing is enlarged and moved by buttons, keys and pointer', async ({ ui, clients, lockscope, place, page }) => {
  const [anna, bert] = await clients.openAll('anna', 'bert');
  const queue = [await anna!.hold(`${place}/orders`), await bert!.queue(`${place}/orders`)];
  await lockscope.knows(`${place}/orders`, queue.map(({ node }) => node));
  await ui.open('/waits');
  const graph = page.getByTestId('graph');
  const sight = async () => (await graph.getAttribute('viewBox'))!.split(' ').map(Number) as [number, number, number, number];
  const all = await sight();

  await page.getByRole('button', { name: 'Zoom in' }).click();
  await expect.poll(async () => (await sight())[2]).toBeLessThan(all[2]);
  await page.getByRole('button', { name: 'Fit' }).click();
  await expect.poll(sight).toEqual(all);

  await graph.focus();
  await page.keyboard.press('+');
  await page.keyboard.press('ArrowRight');
  await expect.poll(async () => (await sight())[0]).toBeGreaterThan(all[0]);
  await page.keyboard.press('0');
  await expect.poll(sight).toEqual(all);

  const box = (await graph.boundingBox())!;
  await page.mouse.move(box.x + box.width - 40, box.y + box.height - 6);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 140, box.y + box.height - 6, { steps: 5 });
  await page.mouse.up();
  await expect.poll(async () => (await sight())[0]).toBeGreaterThan(all[0]);
});

test('who made others wait is said of what is over, with and without scripts', async ({ ui, browser, clients, lockscope, place, page }) => {
  const path = `${place}/orders`;
  const [anna, bert] = await clients.openAll('anna', 'bert');
  const queue = [await anna!.hold(path), await bert!.queue(path)];
  await lockscope.knows(path, queue.map(({ node }) => node));
  await anna!.release();
  await bert!.held();
  await bert!.release();
  type Blame = { rows: { key: string }[] };
  const charged = async () => ((await (await fetch(`${lockscope.url}/api/v1/history/blame?path=${path}`)).json()) as Blame).rows.length;
  await expect.poll(charged).toBe(1);

  await ui.open('/waits');
  await page.getByTestId('blame-link').click();
  await page.getByRole('textbox', { name: 'Lock' }).fill(path);
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page.getByTestId('blame-lead')).toContainText('anna made others wait most: ');
  await expect(page.getByTestId('blame').locator('tbody tr')).toHaveCount(1);
  for (const scheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await expectAccessible(page, `who made others wait, ${scheme}`);
  }
  const file = page.waitForEvent('download');
  await page.getByTestId('blame-csv').click();
  expect((await file).suggestedFilename()).toBe('lockscope-blame.csv');
  await page.getByTestId('blame').locator('tbody').getByRole('link').click();
  await expect(page.getByTestId('past-band')).toBeVisible();

  const phone = await browser.newContext({ baseURL: lockscope.url, javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
  const plain = await phone.newPage();
  await plain.goto(`/blame?path=${path}&range=24h`);
  await expect(plain.getByTestId('blame-lead')).toContainText('anna');
  await plain.getByRole('combobox', { name: 'Charged to' }).selectOption('lock');
  await plain.getByRole('button', { name: 'Show' }).click();
  await expect(plain.getByTestId('blame-lead')).toContainText(`The lock ${path} was waited for most: `);
  await expect(plain.getByTestId('blame-ranges').locator('[aria-current]')).toHaveText('24 h');
  expect(await plain.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await phone.close();
});
