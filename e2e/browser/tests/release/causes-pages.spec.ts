// Every page of causes over the demo: dark and light, on a phone, by keyboard, without scripts, without anything that
// accessibility checks find; and each of its numbers leads to a definition.

import type { Browser, Page as Tab } from '@playwright/test';

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';
import { expectByKeyboard } from '../../support/keyboard.ts';
import { Lockscope } from '../../support/lockscope.ts';
import { expectMarked } from '../../support/marks.ts';

const STUCK = '/shipping/labels';
/** Services that take two locks in both orders have done so by then, and the deadlock fires. */
const MET_MS = 120_000;
const PHONE_PX = 390;
const RULE = '[[alert]]\nname = "long waits"\nwhen = ["waiting > 2s"]\nfor = "1s"\n';

let demo: Lockscope;
test.beforeAll(async () => {
  demo = await Lockscope.demo();
});
test.afterAll(async () => {
  await demo.stop();
});

type CausesPage = {
  name: string;
  /** Its address, once there is something on it. */
  address: (page: Tab) => Promise<string>;
  /** What it is known by. */
  shows: string;
  /** What of it has its numbers marked; nothing of the wallboard, which is read from afar. */
  marked?: string;
  /** It is drawn by the server alone, so it is the same without scripts. */
  isPlain: boolean;
};

async function once(page: Tab, address: string, part: string): Promise<string> {
  await expect.poll(async () => (await page.request.get(address)).text(), { timeout: MET_MS }).toContain(part);
  return address;
}

async function incident(page: Tab): Promise<string> {
  await page.goto(await once(page, `${demo.url}/incidents?q=${encodeURIComponent(STUCK)}`, 'session ended'));
  const over = page.getByTestId('incidents').locator('tbody tr').filter({ hasText: 'session ended' });
  return demo.url + (await over.first().getByRole('link').first().getAttribute('href'))!;
}

async function waited(page: Tab): Promise<string> {
  type Row = { path: string; recipe: string; waiter_count: number | null };
  const locks = async () => ((await (await page.request.get(`${demo.url}/api/v1/locks?limit=100`)).json()) as { locks: Row[] }).locks;
  const find = async () => (await locks()).find(({ waiter_count, recipe }) => (waiter_count ?? 0) > 0 && recipe === 'sequential_mutex')?.path;
  await expect.poll(find, { timeout: MET_MS }).toBeTruthy();
  return `${demo.url}/lock?path=${encodeURIComponent((await find()) ?? STUCK)}&range=1h`;
}

async function session(page: Tab): Promise<string> {
  type Row = { session_id: string; holds: number };
  const rows = async () => ((await (await page.request.get(`${demo.url}/api/v1/sessions`)).json()) as { sessions: Row[] }).sessions;
  await expect.poll(async () => (await rows()).length, { timeout: MET_MS }).toBeGreaterThan(0);
  return `${demo.url}/session?id=${(await rows())[0]!.session_id}`;
}

/** Some waits held against all others: those of the last cell of the map. */
async function differs(page: Tab): Promise<string> {
  await page.goto(await once(page, `${demo.url}/differs`, 'class="heat-'));
  return new URL((await page.getByTestId('heat').getByRole('link').last().getAttribute('href'))!, demo.url).href;
}

const PAGES: CausesPage[] = [
  { name: 'alerts', address: (page) => once(page, `${demo.url}/alerts`, 'data-testid="alerts-firing"'), shows: 'rules', marked: 'main', isPlain: true },
  {
    name: 'alerts-test',
    address: (page) => once(page, `${demo.url}/alerts/test?hours=6&toml=${encodeURIComponent(RULE)}`, 'data-testid="tried"'),
    shows: 'tried-summary',
    marked: 'main',
    isPlain: true,
  },
  { name: 'incidents', address: (page) => once(page, `${demo.url}/incidents`, 'session ended'), shows: 'incidents', marked: 'main', isPlain: true },
  { name: 'incident', address: incident, shows: 'incident-figures', marked: 'main', isPlain: true },
  { name: 'blame', address: (page) => once(page, `${demo.url}/blame`, 'data-testid="blame-sums"'), shows: 'blame', marked: 'main', isPlain: true },
  { name: 'differs', address: differs, shows: 'dimensions', marked: '.differs-all', isPlain: true },
  { name: 'orders', address: (page) => once(page, `${demo.url}/waits`, 'data-testid="order-warning"'), shows: 'lock-orders', marked: 'lock-orders', isPlain: false },
  { name: 'lock', address: waited, shows: 'over-time', marked: ':is(time-to-lock, over-time)', isPlain: false },
  { name: 'session', address: session, shows: 'session-timeout', marked: 'session-timeout', isPlain: false },
  { name: 'wall', address: async () => `${demo.url}/wall`, shows: 'wall', isPlain: false },
];

async function phone(browser: Browser, javaScriptEnabled: boolean): Promise<Tab> {
  const context = await browser.newContext({ javaScriptEnabled, viewport: { width: PHONE_PX, height: 844 } });
  return context.newPage();
}

/** Whatever is wider than the window and not in a box that scrolls by itself. */
async function expectFits(page: Tab, what: string): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth), what).toBeLessThanOrEqual(PHONE_PX);
}

for (const one of PAGES) {
  test(`${one.name}: dark, light, phone, keyboard, without scripts, accessible, explained`, async ({ browser, page }, info) => {
    test.setTimeout(600_000);
    const address = await one.address(page);
    const picture = (kind: string) => ({ path: info.outputPath(`${one.name}-${kind}.png`), fullPage: true });
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(address);
    await expect(page.getByTestId(one.shows).first()).toBeVisible();
    for (const scheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await expectAccessible(page, `${one.name}, ${scheme}`);
      await page.screenshot(picture(scheme));
    }
    if (one.marked !== undefined) {
      const marks = new Set(await expectMarked(page, one.marked, one.name));
      expect(marks.size, 'it explains its numbers').toBeGreaterThan(0);
      const help = await (await page.request.get(`${demo.url}/help`)).text();
      for (const mark of marks) expect(help, mark).toContain(`id="${mark.replace('/help#', '')}"`);
    }
    // What moves by itself is followed by keyboard elsewhere.
    if (one.isPlain) await expectByKeyboard(page, one.name);

    for (const javaScriptEnabled of [true, false]) {
      const small = await phone(browser, javaScriptEnabled);
      await small.goto(address);
      await expect(small.getByTestId(one.shows).first()).toBeVisible();
      const what = `${one.name} on a phone, scripts ${javaScriptEnabled ? 'on' : 'off'}`;
      await expectFits(small, what);
      if (javaScriptEnabled) await expectAccessible(small, what);
      else await small.screenshot(picture('phone'));
      await small.context().close();
    }
  });
}
