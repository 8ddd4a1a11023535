// A phone's width: nothing makes the page scroll sideways, and what matters is there.

import { expect, test } from '../../support/fixtures.ts';

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

test('no page is wider than a phone', async ({ ui, clients, lockscope, place }) => {
  const path = `${place}/a-directory-with-a-rather-long-name/and-one-more-below-it/orders`;
  const [holder, waiter] = await clients.openAll('packer-with-a-rather-long-name-of-its-own@app-17.example', 'shipper');
  const queue = [await holder!.hold(path), await waiter!.queue(path)];
  await lockscope.knows(path, queue.map(({ node }) => node));

  await ui.openBoard({ q: place });
  await expect(ui.lock(path)).toBeVisible();
  await expect(ui.cell(path, 'sentence')).toBeVisible();
  await expect(ui.banner).toBeVisible();
  expect(await ui.overflow()).toBeLessThanOrEqual(0);

  // The numbers of a card stand side by side, each within the card.
  const card = await ui.lock(path).boundingBox();
  const boxes = await Promise.all((['hold', 'waiters', 'oldest'] as const).map((column) => ui.cell(path, column).boundingBox()));
  let edge = card!.x;
  for (const box of boxes) {
    expect(box!.x).toBeGreaterThanOrEqual(edge);
    edge = box!.x + box!.width;
  }
  expect(edge).toBeLessThanOrEqual(card!.x + card!.width);

  await ui.openLock(path);
  await expect(ui.contender(queue[1]!.node)).toBeVisible();
  await expect(ui.verdict).toBeVisible();
  expect(await ui.overflow()).toBeLessThanOrEqual(0);

  await ui.open('/waits');
  await expect(ui.browser.getByTestId('graph')).toBeVisible();
  expect(await ui.overflow()).toBeLessThanOrEqual(0);

  await ui.open('/status');
  await expect(ui.banner).toBeVisible();
  expect(await ui.overflow()).toBeLessThanOrEqual(0);
});
