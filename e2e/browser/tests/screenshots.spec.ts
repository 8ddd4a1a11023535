// The pictures of the documentation, taken from the demo and, for what no demo shows in time, from the page over made-up
// locks: `make screenshots`.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from '../support/fixtures.ts';
import { Lockscope } from '../support/lockscope.ts';

const DOCS = fileURLToPath(new URL('../../../docs', import.meta.url));
const WAITERS = 5;
/** A picture that is larger is not looked at twice. */
const BYTES_MAX = 250_000;
const HANGS = '/shipping/labels';
/** Enough of the past for the sparklines to have a shape. */
const PAST_MS = 100_000;
const LIVE_MS = 200_000;
/** Around a part of a page. */
const MARGIN = 16;

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

type Brief = { path: string; waiter_count: number | null; hold_ms: number | null };

/** The path of a lock that has been contended for a while. */
async function contended(): Promise<string> {
  let found: string | undefined;
  await expect
    .poll(
      async () => {
        const { locks } = (await (await fetch(`${demo.url}/api/v1/locks?sort=damage`)).json()) as { locks: Brief[] };
        found = locks.find(({ waiter_count, hold_ms }) => (waiter_count ?? 0) >= WAITERS && (hold_ms ?? 0) > 1_000)?.path;
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
    await expect.poll(async () => (await demo.lock(HANGS))?.verdict, { timeout: LIVE_MS }).toBe('stuck');
    await ui.open(`${demo.url}/lock?path=${encodeURIComponent(HANGS)}`);
    await ui.isLive();
    await expect(page.getByTestId('advice')).toBeVisible();
    // The members' tables of watches are read once somebody looks.
    await expect(page.locator('.chain .edge[data-evidence=confirmed]').first()).toBeVisible({ timeout: 30_000 });
    await page.screenshot({ path: `${DOCS}/lock-${colorScheme}.png` });
  });
}

test('the board as it was', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'dark' });
  const { from_at_ms: from } = (await (await fetch(`${demo.url}/api/v1/history`)).json()) as { from_at_ms: number };
  // A lock is stuck in the generated hour.
  await page.goto(`${demo.url}/?at=${from + 40 * 60_000}`);
  await expect(page.getByTestId('past-generated')).toBeVisible();
  await expect(page.locator('main')).toContainText(HANGS);
  await page.screenshot({ path: `${DOCS}/past-dark.png` });
});

test('a lock over time, and what happened at it', async ({ page }) => {
  // High enough for the whole page: what sticks to an edge of the screen lies over nothing then.
  await page.setViewportSize({ width: 1440, height: 3000 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`${demo.url}/lock?path=${encodeURIComponent(HANGS)}&range=1h`);
  await expect(page.getByTestId('ot-plot')).toBeVisible();
  const { y, height } = (await page.getByTestId('over-time').boundingBox())!;
  await page.screenshot({ path: `${DOCS}/over-time-dark.png`, clip: { x: 0, y: y - MARGIN, width: 1440, height: Math.min(900, height) + 2 * MARGIN } });
});

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

const scene = { width: 1440, height: 900 };

test('the palette and the status page, over made-up locks', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('live');
  await page.setViewportSize(scene);
  await page.emulateMedia({ colorScheme: 'dark' });
  await ui.open(url);
  await ui.isLive();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('app/d');
  await expect(page.getByRole('dialog', { name: 'Find' }).getByRole('option').first()).toContainText('/app/d');
  await page.screenshot({ path: `${DOCS}/palette-dark.png` });
  await page.emulateMedia({ colorScheme: 'light' });
  await ui.open(`${url}/status`);
  await ui.isLive();
  await page.screenshot({ path: `${DOCS}/status-light.png` });
});

test('the dialog that releases, the record and the lab', async ({ ui, page }) => {
  await page.setViewportSize(scene);
  await page.goto(demo.link!);
  await page.getByRole('button', { name: 'Open the dashboard' }).click();
  await expect(page.getByTestId('visitor')).toContainText('operator');
  await expect.poll(async () => (await demo.lock(HANGS))?.verdict, { timeout: LIVE_MS }).toMatch(/slow|stuck/);
  const dialog = page.getByTestId('release');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await ui.open(`${demo.url}/lock?path=${encodeURIComponent(HANGS)}`);
    await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();
    await dialog.getByLabel(/type the lock/i).fill(HANGS);
    await dialog.getByLabel(/reason/i).fill('hangs since the printer went; orders wait');
    await page.screenshot({ path: `${DOCS}/release-${colorScheme}.png` });
  }
  await page.getByTestId('release-go').click();
  await expect(page.getByTestId('release-result')).toHaveAttribute('data-outcome', 'released');
  await ui.browser.goto(`${demo.url}/audit`);
  await page.screenshot({ path: `${DOCS}/audit-dark.png` });

  await page.goto(`${demo.url}/lab`);
  await page.getByTestId('lab-presets').getByRole('button', { name: /^50 clients(?!,)/ }).click();
  await expect(page.getByTestId('lab-state')).toHaveText('finished', { timeout: 120_000 });
  await page.setViewportSize({ width: 1440, height: 1180 });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${DOCS}/lab-${colorScheme}.png` });
  }
});

test('none is too large', () => {
  const pictures = readdirSync(DOCS).filter((name) => name.endsWith('.png'));
  const large = pictures.filter((name) => statSync(join(DOCS, name)).size > BYTES_MAX);
  expect(large).toEqual([]);
});
