// A queue of hundreds: only the rows in sight are in the document, and scrolling reaches the last.

import { expect, test } from '../../support/fixtures.ts';

const WAITERS = 300;

test('a queue of 300 is windowed and can be scrolled to its end', async ({ ui, clients, lockscope, place, page }) => {
  const path = `${place}/crowded`;
  const client = await clients.open('crowd');
  const nodes = await client.crowd(path, WAITERS + 1);
  await lockscope.knows(path, nodes);

  await ui.openBoard({ q: path });
  await expect(ui.cell(path, 'waiters')).toContainText('300');
  await ui.openLock(path);
  await expect(ui.contender(nodes[0]!)).toBeVisible();
  await expect(ui.chain, 'a long queue is a table').toBeHidden();
  expect(await ui.contenders.count()).toBeLessThan(120);

  await ui.contender(nodes[0]!).hover();
  const last = ui.contender(nodes.at(-1)!);
  await expect(async () => {
    // Less than a window at once: the page goes on below the list.
    await page.mouse.wheel(0, 400);
    await expect(last).toBeInViewport({ timeout: 50 });
  }).toPass({ intervals: [20], timeout: 60_000 });
  await expect(ui.contenderCell(nodes.at(-1)!, 'session')).toContainText(client.session);
  await ui.waitsFor(nodes.at(-1)!, nodes.at(-2)!);
  expect(await ui.contenders.count()).toBeLessThan(120);

  // The end of the list is as live as its beginning.
  const [added] = await client.crowd(path, 1);
  await expect(async () => {
    await page.mouse.wheel(0, 100);
    await expect(ui.contender(added!)).toBeInViewport({ timeout: 50 });
  }).toPass({ intervals: [20], timeout: 60_000 });
});

test('a board of 200 locks is windowed', async ({ ui, clients, place, page }) => {
  const client = await clients.open('many');
  const names = Array.from({ length: 200 }, (_, n) => `${place}/lock-${String(n).padStart(3, '0')}`);
  await client.plant(names.map((name) => ({ path: `${name}/lock-`, ephemeral: true, sequence: true })));

  await ui.openBoard({ q: place, sort: 'path' });
  await expect(ui.lock(names[0]!)).toBeVisible();
  expect(await ui.locks.count()).toBeLessThan(120);
  await ui.lock(names[0]!).hover();
  await expect(async () => {
    await page.mouse.wheel(0, 1_000);
    await expect(ui.lock(names.at(-1)!)).toBeInViewport({ timeout: 50 });
  }).toPass({ intervals: [20], timeout: 60_000 });
  await expect(ui.cell(names.at(-1)!, 'holder')).toContainText(client.session);
});
