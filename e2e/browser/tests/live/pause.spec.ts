// Pause freezes what is shown, and going on catches up with everything that happened.

import { expect, test } from '../../support/fixtures.ts';

test('a paused board stands still and then catches up', async ({ ui, clients, lockscope, place, page }) => {
  const path = `${place}/orders`;
  const [first, second, third] = await clients.openAll('first', 'second', 'third');
  const held = await first!.hold(path);
  const next = await second!.queue(path);
  await ui.openBoard({ q: place });
  await expect(ui.cell(path, 'sentence')).toContainText('first holds it. 1 waits.');

  const pause = page.getByTestId('pause');
  await pause.click();
  await first!.release();
  await second!.held();
  await third!.hold(`${place}/another`);
  await lockscope.knows(path, [next.node]);
  // Another page of the same browser shows that the news is out; the paused one must not.
  const witness = await page.context().newPage();
  await witness.goto(`/?q=${encodeURIComponent(place)}`);
  await expect(witness.locator('[data-lock]')).toHaveCount(2);
  await expect(witness.locator('[data-lock] [data-col=holder]').filter({ hasText: next.session })).toBeVisible();
  await witness.close();
  await expect(ui.locks).toHaveCount(1);
  await expect(ui.cell(path, 'holder')).toContainText(held.session);

  await pause.click();
  await expect(ui.cell(path, 'holder')).toContainText(next.session);
  await expect(ui.cell(path, 'sentence')).toContainText('second holds it. Nobody waits.');
  await expect(ui.lock(`${place}/another`)).toBeVisible();
});

test('a paused lock page stands still and then catches up', async ({ ui, clients, lockscope, place, page }) => {
  const path = `${place}/orders`;
  const [first, second] = await clients.openAll('first', 'second');
  const queue = [await first!.hold(path), await second!.queue(path)];
  await lockscope.knows(path, queue.map(({ node }) => node));
  await ui.openLock(path);
  await ui.showsQueue(queue);
  await page.keyboard.press('p');
  await expect(ui.banner).toContainText(/paused/i);
  await first!.release();
  await second!.held();
  await lockscope.knows(path, [queue[1]!.node]);
  await ui.showsQueue(queue);
  await page.keyboard.press('p');
  await ui.showsQueue([queue[1]!]);
});
