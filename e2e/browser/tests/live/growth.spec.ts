// A page that is left open for days keeps nothing of what came and went: over made-up locks that change 500 times a second it
// draws in seconds as many rows as in hours elsewhere. `make bench-page` does it at length, with the board, the wallboard and
// a connection that is lost and found again, and prints what it measured; docs/performance.md has the figures.

import type { CDPSession, Page } from '@playwright/test';

import { expect, test } from '../../support/fixtures.ts';
import { cut, kept, type Kept, watchGrowth } from '../../support/growth.ts';

const IS_BENCH = process.env.BENCH === '1';
/** Milliseconds between two turns. */
const TURN_MS = 2;
/** What the memory of the page's code may grow by once it has all that it needs: it is taken in pieces of 64 KiB. */
const WASM_BYTES = 192 * 1_024;
/** A way between two pages keeps a little: the router makes an owner for each, and Leptos keeps its share. */
const WAY_BYTES = 2 * 1_024;
const HEAP_BYTES = 1_024 * 1_024;
const LISTENERS = 20;

test.describe.configure({ mode: 'serial' });

const kb = (bytes: number) => `${Math.round(bytes / 1_024)} KB`;

function say(what: string, now: Kept, before: Kept): void {
  const drawn = now.rows - before.rows;
  console.log(
    `${what}: code ${kb(now.wasm)} (${Math.round((now.wasm - before.wasm) / drawn)} B for each of ${drawn} rows), heap ${kb(now.heap)}, ${now.nodes} nodes, ` +
      `${now.listeners} listeners, CPU time ${Math.round(((now.cpu - before.cpu) * 1_000_000) / drawn)} µs a row`,
  );
}

function expectNoGrowth(what: string, before: Kept, after: Kept, wasmBytes = WASM_BYTES): void {
  expect(after.wasm - before.wasm, `${what}: bytes of the code's memory`).toBeLessThanOrEqual(wasmBytes);
  expect(after.heap - before.heap, `${what}: bytes of the heap`).toBeLessThanOrEqual(HEAP_BYTES);
  expect(after.listeners - before.listeners, `${what}: listeners`).toBeLessThanOrEqual(LISTENERS);
  expect(after.nodes, `${what}: nodes`).toBeLessThanOrEqual(3 * before.nodes);
}

async function open(page: Page, url: string, ready: string): Promise<CDPSession> {
  const session = await watchGrowth(page);
  await page.goto(url);
  await expect(page.locator('body[data-hydrated]')).toBeAttached();
  await expect(page.locator(ready).first()).toBeVisible();
  return session;
}

/** Until so many rows were drawn. */
async function drawn(page: Page, rows: number): Promise<void> {
  await page.waitForFunction((rows) => (window as unknown as { watched: { rows: number } }).watched.rows >= rows, rows, { timeout: 600_000, polling: 100 });
}

/** What is left open; what it must have first; rows until it has all that it needs, and rows from then on. */
const SCENES = [
  { what: 'a lock', path: '/lock?path=/order', ready: '#queue-title', warm: 1_000, rows: 4_000 },
  { what: 'waits', path: '/waits', ready: '[data-testid=lead]', warm: 1_000, rows: 4_000 },
  { what: 'sessions', path: '/sessions', ready: '.sess-row', warm: 600, rows: 2_000 },
  { what: 'a board', path: '/', ready: '[data-lock]', warm: 1_000, rows: 0 },
  { what: 'a wallboard', path: '/wall', ready: '.wall-row', warm: 600, rows: 0 },
] as const;

for (const { what, path, ready, warm, rows } of SCENES) {
  test(`${what} that is left open keeps nothing of rows that went`, async ({ page, madeUp }) => {
    test.skip(rows === 0 && !IS_BENCH, 'rows come too slowly there');
    if (IS_BENCH) test.setTimeout(1_200_000);
    const session = await open(page, `${(await madeUp('passing', TURN_MS)).url}${path}`, ready);
    await drawn(page, warm);
    const first = await kept(page, session);
    let last = first;
    for (const step of IS_BENCH ? [1_000, 5_000, 20_000] : [rows]) {
      await drawn(page, first.rows + step);
      const now = await kept(page, session);
      say(`${what} after ${step} rows`, now, last);
      last = now;
    }
    expectNoGrowth(what, first, last);
  });
}

test('ways between pages leave next to nothing behind', async ({ page, madeUp }) => {
  if (IS_BENCH) test.setTimeout(600_000);
  const session = await open(page, (await madeUp('live')).url, '[data-lock]');
  const ways = [['/waits', '[data-testid=lead]'], ['/sessions', '.sess-row'], ['/status', '[data-testid=summary]'], ['/', '[data-lock]']] as const;
  const round = async () => {
    for (const [href, ready] of ways) {
      await page.locator(`header a[href="${href}"]`).first().click();
      await expect(page.locator(ready).first()).toBeVisible();
    }
  };
  for (let at = 0; at < 5; at++) await round();
  const first = await kept(page, session);
  const rounds = IS_BENCH ? 75 : 15;
  for (let at = 0; at < rounds; at++) await round();
  const now = await kept(page, session);
  say('ways between pages', now, first);
  expectNoGrowth('ways between pages', first, now, Math.max(WASM_BYTES, rounds * ways.length * WAY_BYTES));
});

test('a connection that is lost and found again leaves nothing behind', async ({ page, madeUp }) => {
  test.skip(!IS_BENCH, 'a minute');
  test.setTimeout(600_000);
  const session = await open(page, (await madeUp('passing', 20)).url, '[data-lock]');
  const again = async () => {
    await cut(page);
    await page.waitForFunction(() => (window as unknown as { watched: { sockets: WebSocket[] } }).watched.sockets[0]?.readyState === WebSocket.OPEN, undefined, { polling: 50 });
  };
  for (let at = 0; at < 10; at++) await again();
  const first = await kept(page, session);
  for (let at = 0; at < 50; at++) await again();
  const now = await kept(page, session);
  say('a connection lost 50 times', now, first);
  expectNoGrowth('a connection lost 50 times', first, now);
});
