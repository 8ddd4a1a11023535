// The lab on a real ZooKeeper: a run is watched in the browser from its preset to its table; faults that are thrown into
// one are told by the lock's page, and releasing there lets the run go on.

import type { Page as Browser, WebSocketRoute } from '@playwright/test';

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';
import { signIn } from '../../support/sign-in.ts';
import { until } from '../../support/until.ts';
import { ZooKeeper } from '../../support/zookeeper.ts';

const LAB = '[lab]\nensembles = ["default"]\n';

let zookeeper: ZooKeeper;
let lockscope: Lockscope;
test.beforeAll(async () => {
  zookeeper = await ZooKeeper.start();
  lockscope = await Lockscope.serve(zookeeper.hosts, { file: LAB });
});
test.afterAll(async () => {
  await lockscope.stop();
  await zookeeper.remove();
});

type Order = { strategies: string[]; clients: number; hold_ms: number; at_once?: boolean };

/** Starts a run through the form. */
async function start(page: Browser, order: Order): Promise<void> {
  await page.goto(`${lockscope.url}/lab`);
  const form = page.getByTestId('lab-form');
  for (const box of await form.locator('input[name=strategies]').all()) {
    await box.setChecked(order.strategies.includes((await box.getAttribute('value'))!));
  }
  await form.getByLabel('Clients').fill(String(order.clients));
  await form.getByLabel('Hold').fill(String(order.hold_ms));
  if (order.at_once) {
    await form.locator('select[name=order]').selectOption('at_once');
  }
  await form.getByTestId('lab-start').click();
  await expect(page).toHaveURL(/\/lab\?run=[0-9a-f]{16}$/);
}

const state = (page: Browser) => page.getByTestId('lab-state');

/** Digits of what is written. */
const digits = (text: string | null) => Number((text ?? '').replace(/\D/g, ''));

test('the preset of 50 drains both lanes and tells 49 against 1225', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'no-preference' });
  await signIn(page, lockscope, 'operator');
  await page.goto(`${lockscope.url}/lab`);
  await expectAccessible(page, 'set-up');
  await page.getByTestId('lab-presets').getByRole('button', { name: /^50 clients(?!,)/ }).click();
  await expect(page).toHaveURL(/\/lab\?run=/);
  await expect(page.locator('#lab-live')).toHaveAttribute('data-live', 'true');
  await page.evaluate(() => Object.assign(window, { stays: true }));
  await expect(page.getByTestId('lab-lane')).toHaveCount(2);
  await expect(state(page)).toHaveText('finished', { timeout: 120_000 });
  expect(await page.evaluate(() => 'stays' in window)).toBe(true);

  const events = page.getByTestId('lab-table').locator('tr').filter({ hasText: 'Watch events delivered' }).locator('td');
  expect(digits(await events.nth(0).textContent())).toBe(49);
  expect(Math.abs(digits(await events.nth(1).textContent()) - 1_225)).toBeLessThanOrEqual(12);
  await expect(page.getByTestId('lab-conclusion')).toContainText('With 50 clients');
  await page.screenshot({ path: 'test-results/lab-50.png', fullPage: true });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expectAccessible(page, `a finished run, ${colorScheme}`);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 'it fits a phone').toBeLessThanOrEqual(0);

  // What is taken along says the same, also to who did not sign in.
  const id = new URL(page.url()).searchParams.get('run')!;
  const run = (await (await fetch(`${lockscope.url}/api/v1/lab/runs/${id}`)).json()) as { strategies: { name: string; watch_events: number }[] };
  expect(run.strategies.map(({ name }) => name)).toEqual(['predecessor', 'herd_children']);
  expect(run.strategies[0]!.watch_events).toBe(49);
  expect(await (await fetch(`${lockscope.url}/api/v1/lab/runs/${id}.csv`)).text()).toContain(',predecessor,finished,50,');
});

test('both lanes move under the eyes of whoever looks, without a reload', async ({ page }) => {
  await signIn(page, lockscope, 'operator');
  await start(page, { strategies: ['predecessor', 'herd_children'], clients: 20, hold_ms: 2_000, at_once: true });
  await expect(state(page)).toHaveText('running');
  await page.evaluate(() => Object.assign(window, { stays: true }));
  const lanes = page.getByTestId('lab-lane');
  await expect(lanes).toHaveCount(2);
  for (const lane of [lanes.nth(0), lanes.nth(1)]) {
    await expect(lane.locator('[data-s=holds]').first()).toBeVisible();
    const before = digits(await lane.getByTestId('lab-events').textContent());
    await expect.poll(async () => digits(await lane.getByTestId('lab-events').textContent())).toBeGreaterThan(before);
  }
  expect(await page.evaluate(() => 'stays' in window)).toBe(true);
  await page.getByTestId('lab-stop').click();
  await expect(state(page)).toHaveText('stopped');
});

test('a viewer sees runs and starts none', async ({ page }) => {
  await signIn(page, lockscope, 'viewer');
  await page.goto(`${lockscope.url}/lab`);
  await expect(page.getByTestId('lab-viewer')).toBeVisible();
  await expect(page.getByTestId('lab-form')).toHaveCount(0);
  await expect(page.getByTestId('lab-presets')).toHaveCount(0);
  const answer = await page.request.post(`${lockscope.url}/lab/run`, { headers: { origin: lockscope.url }, form: { strategies: 'predecessor', clients: 2 } });
  expect(answer.status()).toBe(403);
});

test('a stale znode stops the queue, the lock page tells it, and releasing it lets the run go on', async ({ page, ui }) => {
  await signIn(page, lockscope, 'operator');
  await start(page, { strategies: ['predecessor'], clients: 5, hold_ms: 3_000 });
  await expect(state(page)).toHaveText('running');
  await page.getByTestId('fault-stale').click();
  const thrown = page.getByTestId('lab-thrown').locator('[data-fault=stale]');
  await expect(thrown).toBeVisible();
  const run = page.url();
  const lock = new URL((await thrown.locator('a').getAttribute('href'))!, run).searchParams.get('path')!;
  await until('the board tells an orphan', 30_000, async () => (await lockscope.lock(lock))?.verdict === 'orphan');

  await ui.open(`${lockscope.url}/lock?path=${encodeURIComponent(lock)}`);
  await expect(page.getByTestId('verdict')).toHaveText(/orphan/i);
  await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();
  const dialog = page.getByTestId('release');
  await dialog.getByLabel(/type the lock/i).fill(lock);
  await dialog.getByLabel(/reason/i).fill('left over by the lab');
  await page.getByTestId('release-go').click();
  await expect(page.getByTestId('release-result')).toHaveAttribute('data-outcome', 'released');

  await page.goto(run);
  await expect(state(page)).toHaveText('finished', { timeout: 60_000 });
  await expect(page.getByTestId('lab-lane').locator('[data-s=done]')).toHaveCount(5);
});

test('a lost link is told until it is back, and a run that is stopped says so', async ({ page, problems }) => {
  problems.expectOutage();
  const sockets: WebSocketRoute[] = [];
  let isCut = false;
  await page.routeWebSocket(/\/api\/v1\/live/, (socket) => {
    if (isCut) {
      void socket.close();
      return;
    }
    sockets.push(socket);
    socket.connectToServer();
  });
  await signIn(page, lockscope, 'operator');
  await start(page, { strategies: ['herd_children'], clients: 8, hold_ms: 10_000 });
  await expect(state(page)).toHaveText('running');
  const run = page.url();
  await expect(page.locator('#lab-live')).toHaveAttribute('data-live', 'true');
  isCut = true;
  await Promise.all(sockets.map((socket) => socket.close()));
  await expect(page.getByTestId('lab-lost')).toContainText('Link lost');
  await expect(page.locator('#lab-live')).toHaveAttribute('data-link', 'lost');
  isCut = false;
  await expect(page.getByTestId('lab-lost')).toBeEmpty();
  await page.getByTestId('lab-stop').click();
  await expect(page).toHaveURL(run);
  await expect(state(page)).toHaveText('stopped');
  await expect(page.getByTestId('lab-why')).toBeVisible();
});
