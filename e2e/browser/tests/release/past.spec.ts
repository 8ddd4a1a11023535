// The lock of the demo that hangs, released, and looked at as it was before: stuck again, with nothing to press there. By
// keyboard alone; the same without scripts, and on a phone.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';
import { until } from '../../support/until.ts';
import type { Locator, Page } from '@playwright/test';

const STUCK = '/shipping/labels';
const HANGS = 'labels-hung';
const ADDRESS = `/lock?path=${encodeURIComponent(STUCK)}`;
/** The sample contention takes a while to hang, and longer to be called stuck. */
const STUCK_MS = 180_000;
const TABS_MOST = 300;
const STEPS_MOST = 20;
/** So many of them by the keys of events. */
const KEYED = 10;

type Mark = { kind: string; code: string; at_ms: number; path: string | null };
type Hold = { how: string; node: string; left_at_ms: number };

// A hold is called stuck after minutes, and what follows takes its time as well.
test.setTimeout(480_000);

let demo: Lockscope;
test.beforeAll(async () => {
  demo = await Lockscope.demo();
});
test.afterAll(async () => {
  await demo.stop();
});

const ask = async <T>(target: string): Promise<T> => (await (await fetch(`${demo.url}${target}`)).json()) as T;

/** Goes on with Tab until something has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let at = 0; at < TABS_MOST; at += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('no Tab leads there');
}

async function nothingToRelease(page: Page): Promise<void> {
  await expect(page.locator('[data-release], .release-open')).toHaveCount(0);
  await expect(page.getByRole('button', { name: /release/i })).toHaveCount(0);
  await expect(page.getByTestId('release')).toHaveCount(0);
}

test('a lock that was released is stuck again when it is looked at as it was before', async ({ ui, page, browser, problems }) => {
  await page.goto(demo.link!);
  await tabTo(page, page.getByRole('button', { name: 'Open the dashboard' }));
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('visitor')).toContainText('operator');

  await until('the lock hangs', STUCK_MS, async () => {
    const lock = await demo.lock(STUCK);
    const holder = lock?.contenders.find(({ role }) => role === 'holder');
    return lock?.verdict === 'stuck' && holder?.label?.includes(HANGS);
  });
  const stuck = Date.now();
  await ui.open(`${demo.url}${ADDRESS}`);
  await tabTo(page, page.getByTestId('dossier').getByRole('button', { name: /release/i }));
  await page.keyboard.press('Enter');
  const dialog = page.getByTestId('release');
  await expect(page.getByTestId('release-victim')).toContainText(HANGS);
  await tabTo(page, dialog.getByLabel(/type the lock/i));
  await page.keyboard.type(STUCK);
  await tabTo(page, dialog.getByLabel(/reason/i));
  await page.keyboard.type('it hangs, orders wait');
  await tabTo(page, page.getByTestId('release-go'));
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('release-result')).toHaveAttribute('data-outcome', 'released');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();

  // It is told as what it was: a release through Lockscope, after that moment.
  const range = `path=${encodeURIComponent(STUCK)}&from=${stuck - 1_000}`;
  const released = await until('the release is marked', STUCK_MS, async () => {
    const { marks } = await ask<{ marks: Mark[] }>(`/api/v1/history/marks?${range}`);
    return marks.find(({ kind }) => kind === 'release');
  });
  expect(released).toMatchObject({ code: 'released', path: STUCK });
  expect(released.at_ms).toBeGreaterThan(stuck);
  const { holds } = await ask<{ holds: Hold[] }>(`/api/v1/history/holds?${range}`);
  expect(holds.find(({ how }) => how === 'forced')?.left_at_ms).toBe(released.at_ms);

  const band = page.getByTestId('past-band');
  const moment = async () => Number(await band.getAttribute('data-at'));
  await test.step('back by keys', async () => {
    await tabTo(page, page.getByTestId('rewind'));
    await page.keyboard.press('Enter');
    await expect(band).toBeVisible();
    // By changes of the lock's verdict where there are some, else by its events; by minutes where much happened since.
    for (let step = 0; step < STEPS_MOST && (await moment()) >= released.at_ms; step += 1) {
      const at = await moment();
      const key = (await page.locator('a[data-key="<"]').count()) > 0 ? '<' : ',';
      if (step < KEYED) {
        await page.keyboard.press(key);
      } else {
        // The lock may not have been there yet: the page says so, and is a 404 under the band of that moment.
        problems.expectNotFound();
        await tabTo(page, band.getByRole('link', { name: '−1 min', exact: true }));
        await page.keyboard.press('Enter');
      }
      await expect.poll(moment).toBeLessThan(at);
    }
    expect(await moment()).toBeLessThan(released.at_ms);
    await nothingToRelease(page);
  });

  const then = `${demo.url}${ADDRESS}&at=${stuck}`;
  const isStuck = async (at: Page) => {
    await expect(at.getByTestId('past-band')).toHaveAttribute('data-at', `${stuck}`);
    await expect(at.getByTestId('verdict')).toContainText(/stuck/i);
    await expect(at.locator('main')).toContainText(HANGS);
    await nothingToRelease(at);
  };
  await page.goto(then);
  await isStuck(page);
  // In the strip that it was in trouble is seen.
  await expect(page.getByTestId('past-strip').locator('.past-trouble')).not.toHaveCount(0);
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expectAccessible(page, `stuck as it was, ${colorScheme}`);
  }
  // The release is marked in it; the mark leads to the moment before.
  const mark = page.getByTestId('past-strip').locator('a', { has: page.locator('.past-release') });
  await expect(mark).toHaveAttribute('href', `${ADDRESS}&at=${released.at_ms - 1}`);
  await page.keyboard.press('l');
  await expect(band).toHaveCount(0);
  await ui.isLive();

  await test.step('without scripts, on a phone, by whoever is sent the address', async () => {
    const phone = { width: 390, height: 844 };
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: phone, hasTouch: true });
    const other = await context.newPage();
    await other.goto(then);
    await isStuck(other);
    expect(await other.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
    await context.close();
  });
});
