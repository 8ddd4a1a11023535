// What members tell, over made-up locks with every state it can be in: dossiers, countdowns, trust, herd, members.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { AxeResults } from 'axe-core';

import { expect, overMadeUp as test } from '../../support/fixtures.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PAGES = ['/', '/lock?path=/app/dying', '/lock?path=/app/herd', '/lock?path=/app/fixed', '/lock?path=/app/leases', '/lock?path=/app/stuck', '/sessions', '/session?id=0x10000a1b2c00001', '/status'];

/** Seconds in `00:42`. */
function seconds(text: string | null): number {
  const [, minutes, rest] = /(\d\d):(\d\d)/.exec(text ?? '') ?? [];
  return Number(minutes) * 60 + Number(rest);
}

test('a dossier tells where a holder connects from', async ({ ui, page }) => {
  await ui.openLock('/order');
  const dossier = page.getByTestId('dossier');
  await expect(dossier).toHaveCount(1);
  await expect(dossier).toContainText(/connected/);
  for (const text of [/10\.0\.\d+\.\d+:51234/, 'zk1:2181', 'ping', '30.0 s', /Last heard\s*(< 1|[\d.]+) s ago/]) await expect(dossier).toContainText(text);
  await expect(dossier.getByRole('link', { name: '0x' })).toHaveAttribute('href', /^\/session\?/);
});

test('who is gone is told with the time that is left', async ({ ui, page }) => {
  await ui.openLock('/app/dying');
  const told = page.getByTestId('dossier');
  await expect(told).toHaveAttribute('data-liveness', 'disconnected');
  await expect(told).toContainText(/runs out in \d\d:\d\d/);
  await expect(told).toContainText('Last client');
  await ui.openLock('/app/dying-unheard');
  await expect(page.getByTestId('dossier')).toContainText(/at the latest in \d\d:\d\d/);
  await ui.openLock('/app/overdue');
  await expect(page.getByTestId('dossier')).toContainText('overdue');
  await ui.openBoard({ q: '/app/dying' });
  await expect(ui.cell('/app/dying', 'verdict')).toContainText(/runs out in \d\d:\d\d/);
  await expect(ui.cell('/app/dying-unheard', 'verdict')).toContainText(/runs out in ≤ \d\d:\d\d/);
});

test('why nothing is known is told, with the way to the status', async ({ ui, page }) => {
  await ui.openLock('/app/two');
  await expect(page.getByTestId('dossier')).toHaveCount(2);
  await expect(page.getByTestId('why-unknown')).toContainText('no member was asked yet');
  await expect(page.getByTestId('why-unknown').getByRole('link')).toHaveAttribute('href', '/status');
  await ui.openLock('/app/orphan');
  await expect(page.getByTestId('why-unknown')).toContainText('No session owns this znode');
});

test('what may be a deadlock is told apart from one', async ({ ui, page }) => {
  await ui.openLock('/app/shared');
  await expect(page.getByTestId('verdict')).toContainText('Looks like a deadlock, if one thread does both');
  await expect(page.getByTestId('verdict')).toHaveAttribute('data-verdict', 'maybe_deadlocked');
  await ui.open('/waits');
  await expect(page.getByTestId('lead')).toContainText('1 deadlock, 1 that may be one');
  const cycles = page.getByTestId('cycle');
  await expect(cycles.filter({ hasText: 'Deadlock:' })).toHaveAttribute('data-cycle', 'true');
  await expect(cycles.filter({ hasText: 'Looks like a deadlock' })).toHaveAttribute('data-cycle', 'maybe');
});

test('a countdown runs down without news', async ({ ui, page, context }) => {
  test.skip(!ui.hasScript, 'without scripts nothing moves');
  // The socket stays silent, so only the page's own clock can move it.
  await context.routeWebSocket(/./, () => {});
  await ui.openLock('/app/dying-unheard');
  const left = page.getByTestId('dossier').locator('[data-until]');
  const until = await left.getAttribute('data-until');
  const before = seconds(await left.textContent());
  await expect.poll(async () => seconds(await left.textContent())).toBeLessThan(before);
  await expect(left).toHaveAttribute('data-until', until ?? '');
});

test('the page says in one line how far it can be trusted', async ({ ui, page }) => {
  const trust = page.getByTestId('trust');
  await ui.openLock('/app/herd');
  await expect(trust).toContainText(/as of zxid 0x2[0-9a-f]+/);
  for (const text of ['link live', 'clocks differ by 12 ms (±4 ms)', '(3 of 3 servers)', 'up to date']) await expect(trust).toContainText(text);
  await expect(trust).toContainText(/watches read (< 1|[\d.]+) s ago/);
  await expect(trust.locator('[data-doubt]')).toHaveCount(0);
  await ui.openLock('/app/stuck');
  for (const text of ['±unknown', 'clients from 2 of 3 servers only', 'watches: reading…', 'behind by 1\u202f204 transactions']) await expect(trust).toContainText(text);
  await expect(trust.locator('[data-doubt]')).toHaveCount(3);
});

test('a herd is seen before it runs', async ({ ui, page }) => {
  const herd = page.getByTestId('herd');
  await ui.openLock('/app/herd');
  await expect(herd).toContainText('releasing it wakes 500 clients (counted)');
  await expect(herd).toHaveAttribute('data-herd', 'true');
  await ui.openLock('/order');
  await expect(herd).toContainText('Releasing it wakes ≈ 1 client (by rule)');
  await expect(herd).not.toHaveAttribute('data-herd');
  await ui.openLock('/app/leases');
  await expect(page.getByTestId('fired')).toContainText('invisible');
  await expect(page.getByTestId('fired')).toContainText('zk1:2181: in the last 5.0 s 12 changes of child lists woke 480 watches');
});

test('waiters without a znode have rows', async ({ ui, page }) => {
  await ui.openLock('/app/fixed');
  await expect(page.getByTestId('hidden-waiters')).toHaveText('3 waiters are seen only by their watches.');
  const hidden = page.locator('[data-hidden]');
  await expect(hidden).toHaveCount(3);
  await expect(hidden.first()).toContainText('no znode; watches lock-0000000000');
  await expect(hidden.first().locator('[data-col=waits-for]')).toContainText('shared: many wait for the same znode');
  await ui.openLock('/app/stuck');
  await expect(page.locator('.only-on')).toHaveText('only on zk2, zk4');
});

test('the status tells what each member lets us see, and what would help', async ({ ui, page }) => {
  await ui.open('/status');
  const member = (number: number) => page.locator(`[data-member="zk${number}:2181"]`);
  await expect(page.getByTestId('members').locator('[data-member]')).toHaveCount(6);
  for (const [number, text] of [[1, /leader.*ok.*ok.*ok.*ok.*AdminServer/], [2, /spared/], [3, /denied/], [4, /observer.*error/], [5, /read-only.*off/], [6, /down.*not asked/]] as const) {
    await expect(member(number)).toContainText(text);
  }
  await expect(page.getByTestId('remedies').getByRole('listitem')).toHaveCount(3);
  await expect(page.getByTestId('config')).toContainText('4lw.commands.whitelist=srvr,cons,dump,wchp,mntr');
  await expect(page.getByTestId('config').locator('code')).toHaveCount(3);
  await expect(page.locator('body')).toContainText('12 ms ahead (±4 ms)');
  await expect(page.getByTestId('summary')).toHaveText('Not well: member zk6:2181 is down');
});

test('where no member is known, the status says why', async ({ ui, page, madeUp }) => {
  const empty = await madeUp('empty');
  await ui.open(`${empty.url}/status`);
  await expect(page.getByTestId('no-members')).toContainText('evidence is off, or no member was asked yet');
});

test('sessions tell their client, and when they run out', async ({ ui, page }) => {
  await ui.openSessions();
  const cell = (id: string) => ui.sessionCell(id, 'client');
  await expect(cell('0x10000a1b2c00001')).toContainText(/disconnected\s+\d\d:\d\d\s*10\.0\.0\.1:51234/);
  await expect(cell('0x10000a1b2c00002')).toContainText(/disconnected\s+≤ \d\d:\d\d/);
  await expect(cell('0x10000a1b2c00003')).toContainText(/disconnected\s+overdue/);
  await expect(cell('0x10000a1b2c00005')).toContainText('silent');
  await ui.open('/session?id=0x10000a1b2c00001');
  await expect(page.getByTestId('dossier')).toContainText(/runs out in \d\d:\d\d/);
  await expect(page.getByTestId('dossier')).toContainText('10.0.0.1:51234');
});

for (const colorScheme of ['dark', 'light'] as const) {
  test(`nothing serious in the way of anybody, ${colorScheme}`, async ({ ui, page }) => {
    test.skip(!ui.hasScript, 'axe is a script');
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (const address of PAGES) {
        await ui.open(address);
        await ui.isLive();
        expect(await ui.overflow(), `${address} at ${width}`).toBeLessThanOrEqual(0);
        await page.evaluate(AXE);
        const violations = await page.evaluate(async () => {
          const { axe } = window as unknown as { axe: { run: () => Promise<AxeResults> } };
          return (await axe.run()).violations;
        });
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        expect(serious.map(({ id, nodes }) => ({ id, where: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`) })), `${address} at ${width}`).toEqual([]);
      }
    }
  });
}
