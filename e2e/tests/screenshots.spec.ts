// The pictures of the documentation, taken from the demo: `SCREENSHOTS=1 npx playwright test screenshots`.

import { resolve } from 'node:path';

import { expect, test } from '../support/fixtures.ts';
import { Lockscope } from '../support/lockscope.ts';

const DOCS = resolve(import.meta.dirname, '../../docs');
const WAITERS = 5;
/** Enough of the past for the sparklines to have a shape. */
const PAST_MS = 100_000;
const LIVE_MS = 200_000;

test.skip(process.env.SCREENSHOTS !== '1', 'only when pictures are wanted');
test.describe.configure({ mode: 'serial', timeout: 300_000 });

let demo: Lockscope;
test.beforeAll(async () => {
  test.setTimeout(LIVE_MS + 60_000);
  demo = await Lockscope.demo();
  type Status = { ensembles: { link: string; since_ms: number }[] };
  await expect
    .poll(
      async () => {
        const { ensembles } = (await (await fetch(`${demo.url}/api/v1/status`)).json()) as Status;
        return ensembles[0]?.link === 'live' ? Date.now() - ensembles[0].since_ms : 0;
      },
      { timeout: LIVE_MS },
    )
    .toBeGreaterThan(PAST_MS);
});
test.afterAll(async () => {
  await demo.stop();
});

type Brief = { path: string; waiter_count: number; hold_ms: number | null };

/** The path of a lock that has been contended for a while. */
async function contended(): Promise<string> {
  let found: string | undefined;
  await expect
    .poll(
      async () => {
        const { locks } = (await (await fetch(`${demo.url}/api/v1/locks?sort=damage`)).json()) as { locks: Brief[] };
        found = locks.find(({ waiter_count, hold_ms }) => waiter_count >= WAITERS && (hold_ms ?? 0) > 1_000)?.path;
        return found;
      },
      { timeout: LIVE_MS },
    )
    .toBeTruthy();
  return found!;
}

for (const colorScheme of ['dark', 'light'] as const) {
  test(`board and lock page, ${colorScheme}`, async ({ ui, page }) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme });
    const path = await contended();
    await ui.open(demo.url);
    await ui.isLive();
    await expect(ui.lock(path)).toBeVisible();
    await page.screenshot({ path: `${DOCS}/board-${colorScheme}.png` });
    await ui.open(`${demo.url}/lock?path=${encodeURIComponent(path)}`);
    await ui.isLive();
    await expect(ui.contenders.nth(WAITERS - 1)).toBeVisible();
    // The members' tables of watches are read once somebody looks.
    await expect(page.locator('.chain .edge[data-evidence=confirmed]').first()).toBeVisible({ timeout: 30_000 });
    await page.screenshot({ path: `${DOCS}/lock-${colorScheme}.png` });
  });
}

test('who waits for whom, in a deadlock', async ({ ui, page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'dark' });
  const deadlocks = async () => ((await (await fetch(`${demo.url}/api/v1/waits`)).json()) as { cycles: unknown[] }).cycles.length;
  await expect.poll(deadlocks, { timeout: LIVE_MS }).toBeGreaterThan(0);
  await ui.open(`${demo.url}/waits`);
  await ui.isLive();
  await expect(page.getByTestId('cycle').first()).toBeVisible();
  await page.screenshot({ path: `${DOCS}/waits-dark.png` });
});

test('board on a phone', async ({ ui, page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  const path = await contended();
  await ui.open(demo.url);
  await ui.isLive();
  await expect(ui.lock(path)).toBeVisible();
  await page.screenshot({ path: `${DOCS}/board-phone.png` });
});
