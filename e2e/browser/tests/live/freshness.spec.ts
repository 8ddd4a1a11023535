// Live is a question of age alone: what comes too late, from a server that stands still or over a line that is cut, is not
// live, and is told since the instant up to which it was known.

import { bannerSeen, recordBanner } from '../../support/banner.ts';
import { expect, test as base } from '../../support/fixtures.ts';
import { Line } from '../../support/line.ts';
import { Lockscope } from '../../support/lockscope.ts';
import type { Page } from '../../support/page.ts';

/** From what went wrong to the page's word for it. */
const LIVE_MS_MAX = 3_000;
/** How wrong "since" may be; half a second more is between two moves of the ages, and to read it from here. */
const SINCE_MS_MAX = 1_000 + 750;

// A server of its own, which is stopped in the middle.
const test = base.extend<{ server: Lockscope; line: Line }>({
  server: async ({ zookeeper, context }, use) => {
    const server = await Lockscope.serve(zookeeper.hosts);
    await use(server);
    server.go();
    await Promise.all(context.pages().map((page) => page.close()));
    await server.stop();
  },
  line: async ({ server }, use) => {
    const line = await Line.to(server.address);
    await use(line);
    await line.close();
  },
});

async function leavesLive(ui: Page, sinceMs: number): Promise<void> {
  await expect(ui.banner).toHaveAttribute('data-state', 'offline');
  const left = (await bannerSeen(ui)).find(({ state }) => state !== 'live');
  expect(left!.atMs - sinceMs, 'ms until it is not live').toBeLessThanOrEqual(LIVE_MS_MAX);
  // Since when: the last instant known, not the one at which it was noticed.
  const wrong = async () => {
    const age = await ui.banner.locator('.banner-since').textContent();
    return Math.abs(Date.now() - 1_000 * Number(/\(([\d.]+) s ago\)/.exec(age ?? '')?.[1] ?? 0.5) - sinceMs);
  };
  await expect.poll(wrong, { timeout: 10_000 }).toBeLessThanOrEqual(SINCE_MS_MAX);
}

/** What the page said on its way back from OFFLINE. */
async function comesBack(ui: Page): Promise<string[]> {
  await ui.isLive();
  const states = (await bannerSeen(ui)).map(({ state }) => state);
  return states.slice(states.lastIndexOf('offline') + 1);
}

test('a server that stands still is noticed, and what it showed has no colour', async ({ ui, clients, place, server, problems }) => {
  problems.expectOutage();
  const held = await (await clients.open('holder')).hold(place);
  await server.knows(place, [held.node]);
  await ui.open(`${server.url}/lock?path=${place}`);
  await ui.isLive();
  const chip = ui.browser.locator('.verdict .chip').first();
  const color = () => chip.evaluate((chip) => getComputedStyle(chip).color);
  const was = await color();
  await recordBanner(ui);
  const stoodAtMs = Date.now();
  server.stand();
  await leavesLive(ui, stoodAtMs);
  expect(await color()).not.toBe(was);
  const before = await chip.locator('span').evaluate((word) => getComputedStyle(word, '::before').content);
  expect(before).toBe('"was "');
  const alive = ui.browser.locator('.alive').first();
  expect(await alive.evaluate((alive) => getComputedStyle(alive, '::after').content)).toBe('"unknown"');
  await expect(alive.locator('span').first()).toBeHidden();
  await expect(ui.browser.getByTestId('trust')).toContainText('link unknown');

  server.go();
  const states = await comesBack(ui);
  // Old data came first; it was not called live before ZooKeeper had answered.
  expect(states.at(-1)).toBe('live');
  expect(states.slice(0, -1), 'on the way back').toContain('syncing');
  expect(await color()).toBe(was);
});

test('a line that is cut without a word is noticed', async ({ ui, line, problems }) => {
  problems.expectOutage();
  await ui.open(line.url);
  await ui.isLive();
  await recordBanner(ui);
  const cutAtMs = Date.now();
  line.cut();
  await leavesLive(ui, cutAtMs);
  line.mend();
  expect((await comesBack(ui)).at(-1)).toBe('live');
});

test('a line that stands still for a moment is late and not stale, and nothing moves', async ({ ui, line, problems }) => {
  problems.expectOutage();
  await ui.open(line.url);
  await ui.isLive();
  const height = async () => (await ui.banner.boundingBox())!.height;
  const was = await height();
  await recordBanner(ui);
  line.cut();
  await expect(ui.banner).toHaveAttribute('data-state', 'late');
  line.mend();
  expect(await height()).toBe(was);
  await ui.isLive();
  const states = (await bannerSeen(ui)).map(({ state }) => state);
  expect(states).toEqual(['live', 'late', 'live']);
});

test('the page of a quiet lock beside busy ones is live all the while', async ({ ui, clients, place, server }) => {
  // Ten minutes where that is asked for.
  const forMs = Number(process.env.QUIET_MS ?? 15_000);
  test.setTimeout(60_000 + forMs);
  const held = await (await clients.open('holder')).hold(`${place}/quiet`);
  const busy = await clients.openAll('first', 'second', 'third');
  await server.knows(`${place}/quiet`, [held.node]);
  await ui.open(`${server.url}/lock?path=${place}/quiet`);
  await ui.isLive();
  await recordBanner(ui);
  const until = Date.now() + forMs;
  const turns = await Promise.all(
    busy.map(async (client, at) => {
      let turns = 0;
      for (; Date.now() < until; turns++) {
        await client.hold(`${place}/busy-${at}`);
        await client.release();
      }
      return turns;
    }),
  );
  expect(Math.min(...turns), 'changes a second, faster than can be followed').toBeGreaterThan(forMs / 250);
  expect((await bannerSeen(ui)).map(({ state }) => state)).toEqual(['live']);
});
