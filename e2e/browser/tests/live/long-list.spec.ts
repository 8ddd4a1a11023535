// A queue of hundreds: only the rows in sight are in the document, and scrolling reaches the last.

import type { Locator, Page } from '@playwright/test';

import { expect, test } from '../../support/fixtures.ts';

const WAITERS = 300;

/** Turns the wheel until a row is drawn and in sight. The page goes on below a list: at its end the wheel is turned back. */
async function scrollTo(page: Page, row: Locator): Promise<void> {
  let step = 400;
  await expect(async () => {
    if ((await row.count()) > 0) {
      await row.scrollIntoViewIfNeeded({ timeout: 1_000 });
    } else {
      const isAtEnd = await page.evaluate((step) => {
        const { scrollTop, clientHeight, scrollHeight } = document.scrollingElement!;
        return step > 0 ? scrollTop + clientHeight >= scrollHeight - 1 : scrollTop <= 0;
      }, step);
      if (isAtEnd) step = -step;
      await page.mouse.wheel(0, step);
    }
    // Rows are asked for as they come into sight.
    await expect(row).toBeInViewport({ timeout: 300 });
  }).toPass({ intervals: [20], timeout: 60_000 });
}

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
  await scrollTo(page, last);
  await expect(ui.contenderCell(nodes.at(-1)!, 'session')).toContainText(client.session);
  await ui.waitsFor(nodes.at(-1)!, nodes.at(-2)!);
  expect(await ui.contenders.count()).toBeLessThan(120);

  // The end of the list is as live as its beginning.
  const [added] = await client.crowd(path, 1);
  await scrollTo(page, ui.contender(added!));
});

test('a board of 200 locks is windowed', async ({ ui, clients, place, page }) => {
  const client = await clients.open('many');
  const names = Array.from({ length: 200 }, (_, n) => `${place}/lock-${String(n).padStart(3, '0')}`);
  await client.plant(names.map((name) => ({ path: `${name}/lock-`, ephemeral: true, sequence: true })));

  await ui.openBoard({ q: place, sort: 'path' });
  await expect(ui.lock(names[0]!)).toBeVisible();
  expect(await ui.locks.count()).toBeLessThan(120);
  await ui.lock(names[0]!).hover();
  await scrollTo(page, ui.lock(names.at(-1)!));
  await expect(ui.cell(names.at(-1)!, 'holder')).toContainText(client.session);
});
