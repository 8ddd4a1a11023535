// What the demo shows of causes: how waits differ, orders of locks that will deadlock one day, how long waiters still have to
// wait, and what the words on these pages mean.

import type { Page as Tab } from '@playwright/test';

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';

/** Services that take two locks in both orders have done so by then. */
const MET_MS = 120_000;
const PHONE = { javaScriptEnabled: false, viewport: { width: 390, height: 800 } };

let demo: Lockscope;
test.beforeAll(async () => {
  demo = await Lockscope.demo();
});
test.afterAll(async () => {
  await demo.stop();
});

async function inBoth(page: Tab, what: string): Promise<void> {
  for (const scheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await expectAccessible(page, `${what}, ${scheme}`);
  }
}

/** Nothing of a page is wider than a phone. */
async function fits(page: Tab): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
}

let cookies: Awaited<ReturnType<ReturnType<Tab['context']>['cookies']>> = [];
/** The link of a demo signs one in, once. */
async function asOperator(page: Tab): Promise<void> {
  if (cookies.length > 0) {
    await page.context().addCookies(cookies);
    return;
  }
  await page.goto(demo.link!);
  await page.getByRole('button', { name: 'Open the dashboard' }).click();
  await expect(page.getByTestId('visitor')).toContainText('operator');
  cookies = await page.context().cookies();
}

test('a map of waits is chosen from, and says how those chosen differ', async ({ browser, page }) => {
  const address = `${demo.url}/differs`;
  await expect.poll(async () => (await page.request.get(address)).text(), { timeout: 30_000 }).toContain('data-testid="heat"');
  await page.goto(address);
  const cells = page.getByTestId('heat').locator('td a');
  const cell = cells.first();
  const meaning = (await cell.getAttribute('aria-label'))!;
  expect(meaning).toMatch(/wait/);
  await inBoth(page, 'how waits differ');
  // By keyboard, as everything.
  await cell.focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/[?&]sel_from=\d+/);
  await expect(page.getByTestId('heat').locator('.heat-chosen')).toHaveCount(1);
  await expect(page.getByTestId('dimensions')).toBeVisible();
  expect(await page.getByTestId('dimension').count()).toBeGreaterThan(2);
  await inBoth(page, 'how chosen waits differ');
  await page.screenshot({ path: test.info().outputPath('differs.png'), fullPage: true });
  const chosen = page.url();

  const phone = await browser.newContext(PHONE);
  const plain = await phone.newPage();
  await plain.goto(chosen);
  await expect(plain.getByTestId('dimensions')).toBeVisible();
  await fits(plain);
  await phone.close();
  await page.getByRole('link', { name: 'Select nothing' }).click();
  await expect(page.locator('.heat-chosen')).toHaveCount(0);
});

test('a warning of lock orders is snoozed with a reason, and wakes again', async ({ page }) => {
  await asOperator(page);
  const waits = async () => (await (await page.request.get(`${demo.url}/api/v1/orders`)).json()) as { warnings: unknown[] };
  await expect.poll(async () => (await waits()).warnings.length, { timeout: MET_MS }).toBeGreaterThan(0);
  await page.goto(`${demo.url}/waits`);
  const warning = page.getByTestId('order-warning').first();
  await expect(warning).toBeVisible();
  await inBoth(page, 'lock orders');
  await warning.getByTestId('order-snooze').locator('summary').click();
  await warning.locator('input[name=reason]').fill('both services are replaced on Friday');
  await page.screenshot({ path: test.info().outputPath('orders.png'), fullPage: true });
  await warning.getByRole('button', { name: 'Snooze' }).click();
  const snoozed = page.getByTestId('order-snoozed').first();
  await expect(snoozed).toContainText('both services are replaced on Friday');
  await expect(page).toHaveURL(/\/waits/);
  await page.getByTestId('lock-orders').getByRole('button', { name: /^End/ }).first().click();
  await expect(page.getByTestId('order-snoozed')).toHaveCount(0);
  await expect(page.getByTestId('order-warning').first()).toBeVisible();
  await page.goto(`${demo.url}/audit`);
  await expect(page.getByTestId('audit')).toContainText('both services are replaced on Friday');
});

test('a drag over the picture of incidents chooses that part of the time', async ({ page }) => {
  const list = `${demo.url}/incidents`;
  await expect.poll(async () => (await page.request.get(list)).text(), { timeout: 30_000 }).toContain('class="incident-zoom"');
  await page.goto(list);
  const picture = page.locator('.incident-picture svg');
  const zooms = page.locator('.incident-zoom');
  const count = await zooms.count();
  // Where something was wrong: the last hour of the day.
  const [first, last] = [count - 4, count - 1];
  const end = async (at: number, name: string) => new URL((await zooms.nth(at).getAttribute('href'))!, demo.url).searchParams.get(name);
  const wanted = { from: await end(first, 'from'), to: await end(last, 'to') };
  const box = (await picture.boundingBox())!;
  const x = (at: number) => box.x + (box.width * (at + 0.5)) / count;
  await page.mouse.move(x(first), box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(x(last), box.y + box.height / 2, { steps: 5 });
  await expect(picture.locator('.ot-brush')).not.toHaveAttribute('width', '0');
  await page.screenshot({ path: test.info().outputPath('brush.png') });
  await page.mouse.up();
  await expect(page).toHaveURL(new RegExp(`from=${wanted.from}\\b.*to=${wanted.to}\\b|to=${wanted.to}\\b.*from=${wanted.from}\\b`));
  // Escape gives it up, and nothing is chosen.
  const chosen = page.url();
  await page.mouse.move(box.x + 50, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + box.height / 2, { steps: 3 });
  await page.keyboard.press('Escape');
  await page.mouse.up();
  await expect(picture.locator('.ot-brush')).toHaveAttribute('width', '0');
  expect(page.url()).toBe(chosen);
});

test('how long waiters still have to wait is in the document, and moves nothing', async ({ browser, page }) => {
  type Row = { path: string; recipe: string; waiter_count: number | null };
  const locks = async () => ((await (await page.request.get(`${demo.url}/api/v1/locks?limit=100`)).json()) as { locks: Row[] }).locks;
  const waiting = async () => (await locks()).filter(({ waiter_count, recipe }) => (waiter_count ?? 0) > 0 && recipe === 'sequential_mutex');
  await expect.poll(async () => (await waiting()).length, { timeout: 60_000 }).toBeGreaterThan(0);
  const address = async () => `${demo.url}/lock?path=${encodeURIComponent((await waiting())[0]!.path)}`;

  const without = await browser.newContext({ javaScriptEnabled: false });
  const plain = await without.newPage();
  await expect(async () => {
    await plain.goto(await address());
    await expect(plain.getByTestId('time-to-lock')).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await expect(plain.getByTestId('ttl-lead')).toContainText(/The first in line gets it in|There is no estimate/);
  await without.close();

  await page.goto(await address());
  const section = page.getByTestId('time-to-lock');
  await expect(section).toBeVisible();
  const shift = await page.evaluate(
    () =>
      new Promise<string[]>((resolve) => {
        const moved: string[] = [];
        type Shift = PerformanceEntry & { sources: { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[] };
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as Shift[]) {
            const own = entry.sources.filter(({ node }) => node instanceof Element && node.closest('over-time, time-to-lock') !== null);
            moved.push(...own.map(({ node, previousRect, currentRect }) => `${(node as Element).outerHTML.slice(0, 80)} ${previousRect.top} ${currentRect.top}`));
          }
        }).observe({ type: 'layout-shift', buffered: true });
        // What was recorded of it is fetched at once; its answer is the second of them at most.
        const fetched = () => performance.getEntriesByType('resource').some(({ name }) => name.includes('/lock/time-to-lock'));
        const look = () => (fetched() ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(moved))) : setTimeout(look, 50));
        look();
      }),
  );
  expect(shift).toEqual([]);
  await inBoth(page, 'a lock with its time to lock');
  await page.screenshot({ path: test.info().outputPath('time-to-lock.png'), fullPage: true });
});

test('words above numbers of the alerts lead to what they mean, and the help to every page', async ({ page }) => {
  await page.goto(`${demo.url}/alerts`);
  const marks = page.locator('main a[href^="/help#"]');
  await expect(marks.first()).toBeVisible();
  const targets = new Set(await marks.evaluateAll((links) => links.map((link) => link.getAttribute('href')!)));
  await page.goto(`${demo.url}/help`);
  for (const target of targets) {
    await expect(page.locator(target.replace('/help', '')), target).toHaveCount(1);
  }
  for (const own of ['/events', '/incidents', '/blame', '/differs', '/alerts', '/alerts/test']) {
    await expect(page.getByTestId('help-pages').locator(`a[href="${own}"]`), own).toHaveCount(1);
  }
  await inBoth(page, 'the help');
});
