// The page of waits while it is looked at: it follows, boxes can be chosen, the drawing can be moved and enlarged.

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
