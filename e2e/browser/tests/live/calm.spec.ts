// A page stays where it is: a lock that changes hands moves rows, and nothing jumps.

import type { Page } from '@playwright/test';

import { expect, test } from '../../support/fixtures.ts';

type Shift = { value: number; of: string[] };

/** Notes what jumps from here on, by the browser's own measure. */
async function watchShifts(page: Page): Promise<() => Promise<Shift[]>> {
  await page.evaluate(() => {
    const shifts: Shift[] = [];
    (window as unknown as { shifts: Shift[] }).shifts = shifts;
    type Entry = { value: number; sources: { node: Node | null }[] };
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries() as unknown as Entry[]) {
        shifts.push({ value, of: sources.map(({ node }) => `${node?.nodeName} ${node?.textContent?.slice(0, 40)}`) });
      }
    }).observe({ type: 'layout-shift' });
  });
  return () => page.evaluate(() => (window as unknown as { shifts: Shift[] }).shifts);
}

/** Less than the width of a word that changed; a row that moves by its height is a tenth of it at once. */
function isCalm(shifts: Shift[]): void {
  expect(shifts.reduce((sum, { value }) => sum + value, 0), JSON.stringify(shifts)).toBeLessThan(0.001);
}

/** Where the rows that are drawn begin, in the order in which they stand in the document, and how tall their list is. */
const drawn = (page: Page) =>
  page.evaluate(() => {
    const list = document.querySelector('.queue-body')!;
    return { tops: [...list.querySelectorAll('[role=row]')].map((row) => row.getBoundingClientRect().top), height: list.getBoundingClientRect().height };
  });

test('a hand-off in a long queue shifts nothing, on screen or where it is scrolled to', async ({ page, ui, madeUp }) => {
  const { url } = await madeUp('crowd');
  await ui.open(`${url}/lock?path=/order`);
  await ui.isLive();
  const first = page.locator('.contender').first();
  for (const px of [400, 2_000]) {
    await page.evaluate((px) => window.scrollTo(0, px), px);
    await expect(first).toHaveAttribute('aria-rowindex', px < 1_000 ? '2' : /\d\d/);
    const shifted = await watchShifts(page);
    const before = await first.getAttribute('data-node');
    await expect.poll(async () => Number((await first.getAttribute('data-node'))!.slice(5)) - Number(before!.slice(5))).toBeGreaterThan(60);
    isCalm(await shifted());
    expect(await page.evaluate(() => scrollY)).toBe(px);
  }

  // Who hears the rows hears them in the order in which they stand.
  const { tops } = await drawn(page);
  expect(tops.length).toBeGreaterThan(12);
  expect(tops).toEqual([...tops].sort((one, other) => one - other));
});

test('a queue that changes fifty times a second is drawn about once a second, and is live all the while', async ({ page, ui, madeUp }) => {
  const { url } = await madeUp('crowd');
  await ui.open(`${url}/lock?path=/order`);
  await ui.isLive();
  await page.evaluate(() => {
    const seen = { nodes: [] as string[], states: [] as string[] };
    (window as unknown as { seen: typeof seen }).seen = seen;
    const note = (list: string[], value: string | null | undefined) => {
      if (value && list.at(-1) !== value) list.push(value);
    };
    const look = () => {
      note(seen.nodes, document.querySelector('.contender')?.getAttribute('data-node'));
      note(seen.states, document.querySelector('[data-testid=link-banner]')?.getAttribute('data-state'));
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
    look();
  });
  const seen = () => page.evaluate(() => (window as unknown as { seen: { nodes: string[]; states: string[] } }).seen);
  const handOffs = (nodes: string[]) => Number(nodes.at(-1)!.slice(5)) - Number(nodes[0]!.slice(5));
  await expect.poll(async () => handOffs((await seen()).nodes), { timeout: 60_000 }).toBeGreaterThan(250);
  const { nodes, states } = await seen();
  // Drawn as they come, some before it is known how fast that is, it would be one of a few hand-offs each.
  expect(handOffs(nodes) / (nodes.length - 1), 'hand-offs that are drawn at once').toBeGreaterThan(25);
  expect(states).toEqual(['live']);
});

test('what came and is not drawn for two seconds is not live any more', async ({ page, ui, clients, place }) => {
  const path = `${place}/burst`;
  const client = await clients.open('a');
  await client.hold(path);
  await page.addInitScript(() => {
    const later = window.setTimeout.bind(window);
    // A browser may hold timers back as long as it likes.
    const held = (run: TimerHandler, ms?: number) => ((window as unknown as { areHeld?: boolean }).areHeld && (ms ?? 0) >= 100 ? 0 : later(run, ms));
    window.setTimeout = held as typeof window.setTimeout;
  });
  await ui.openLock(path);
  await ui.isLive();
  await page.evaluate(() => {
    (window as unknown as { areHeld: boolean }).areHeld = true;
  });
  // A burst of changes, of which some wait to be drawn; on a busy machine one may be too slow for that. Then nothing comes any
  // more but the server's word that all is as it was sent last, which is not what is shown.
  await expect(async () => {
    await client.crowd(path, 40);
    await expect(ui.banner).not.toHaveAttribute('data-state', 'live', { timeout: 4_000 });
  }).toPass({ timeout: 120_000 });
});

test('a row that leaves from the middle of a queue shifts nothing', async ({ page, ui, clients, place, lockscope }) => {
  const path = `${place}/orders`;
  const crowd = await clients.open('crowd');
  const before = await crowd.crowd(path, 8);
  const leaver = await clients.open('leaver');
  // By the same names: one that the others do not see would hold as well, and the page would say so until it left.
  const [left] = await leaver.crowd(path, 1);
  // So many that what stands below the list is out of sight.
  const behind = await crowd.crowd(path, 60);
  await lockscope.knows(path, [...before, left!, ...behind]);
  await ui.openLock(path);
  await ui.isLive();
  // A row that is out of sight is not drawn: the list's beginning comes first.
  for (const node of [before[0]!, left!]) {
    await ui.contender(node).evaluate((row) => row.scrollIntoView({ block: 'center' }));
  }
  // What members say of the holder arrives within seconds, and makes its card taller once.
  await expect(page.getByTestId('dossier').first()).toContainText('Session timeout');
  const row = ui.contender(behind[0]!);
  await expect(row).toBeInViewport();
  const top = async (of = row) => (await of.boundingBox())!.y;
  const stood = await top();
  const height = (await top(ui.contender(behind[1]!))) - stood;
  const shifted = await watchShifts(page);
  await leaver.close();
  await expect(ui.contender(left!)).toHaveCount(0);
  await expect.poll(async () => Math.abs(stood - (await top()) - height)).toBeLessThan(2);
  isCalm(await shifted());
});

test('rows of a list are printed one after the other', async ({ page, ui, madeUp }) => {
  const { url } = await madeUp('crowd');
  await ui.open(`${url}/lock?path=/order`);
  await ui.isLive();
  await page.evaluate(() => window.scrollTo(0, 3_000));
  await expect(page.locator('.contender').first()).not.toHaveAttribute('aria-rowindex', '2');
  await page.emulateMedia({ media: 'print' });
  const { tops, height } = await drawn(page);
  expect(height).toBeLessThan(tops.length * 120);
  expect(tops).toEqual([...tops].sort((one, other) => one - other));
  expect(tops.at(-1)! - tops[0]!).toBeLessThan(height);
});

test('a lock that changes hands all the time has a rate on its row, which does not flicker', async ({ page, ui, clients, place }) => {
  const path = `${place}/busy`;
  const workers = await clients.openAll('a', 'b', 'c');
  let [goesOn, turns] = [true, 0];
  const work = Promise.all(
    workers.map(async (client) => {
      while (goesOn) {
        await client.hold(path);
        await client.release();
        turns += 1;
      }
    }),
  );
  await ui.openBoard();
  const sentence = page.locator(`[data-lock="${path}"] [data-col="sentence"]`);
  await expect(sentence).toHaveText(/^Changes hands [\d.\u202f]+ times a second\.$/, { timeout: 20_000 });
  await sentence.evaluate((element) => {
    const row = element.closest('[data-lock]')!;
    const seen: string[] = [];
    (window as unknown as { seen: string[] }).seen = seen;
    const look = () => {
      const text = row.querySelector('[data-col="sentence"]')?.textContent ?? '';
      if (seen.at(-1) !== text) seen.push(text);
    };
    new MutationObserver(look).observe(row.parentElement!, { subtree: true, childList: true, characterData: true });
    look();
  });
  const from = turns;
  await expect.poll(() => turns, { timeout: 30_000 }).toBeGreaterThan(from + 40);
  const texts = await page.evaluate(() => (window as unknown as { seen: string[] }).seen);
  expect(texts.length, texts.join(' | ')).toBeLessThanOrEqual(3);
  await ui.openLock(path);
  await expect(page.getByTestId('verdict')).toContainText(/Changes hands [\d.\u202f]+ times a second/);
  goesOn = false;
  await work;
  await expect(page.getByTestId('verdict')).toContainText('Free.', { timeout: 20_000 });
});

test('a queue whose texts a browser translated shows who is where all the same', async ({ page, ui, clients, place, lockscope }) => {
  const path = `${place}/orders`;
  const [first, second, third] = await clients.openAll('first', 'second', 'third');
  const places = [await first!.hold(path), await second!.queue(path), await third!.queue(path)];
  await lockscope.knows(path, places.map(({ node }) => node));
  await ui.openLock(path);
  await ui.isLive();
  await ui.openTable();
  // As browsers do it: an element of theirs around each text.
  await page.evaluate(() => {
    for (const cell of document.querySelectorAll('.queue-place, .queue-time')) {
      const font = document.createElement('font');
      font.append(...cell.childNodes);
      cell.append(font);
    }
  });
  await first!.release();
  await expect(ui.contender(places[1]!.node).locator('.queue-place')).toHaveText('holds');
  await expect(ui.contender(places[2]!.node).locator('.queue-place')).toHaveText('1');
});
