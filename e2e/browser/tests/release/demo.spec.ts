// The way of the demo, as its output leads: the link signs an operator in, once; the lock that hangs is released through
// the dialog; and there is a record, which holds.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';
import { Page } from '../../support/page.ts';

const STUCK = '/shipping/labels';
const HANGS = 'labels-hung';
/** The sample contention takes a while to hang. */
const HANGS_MS = 100_000;

let demo: Lockscope;
test.beforeAll(async () => {
  demo = await Lockscope.demo();
});
test.afterAll(async () => {
  await demo.stop();
});

test('from the link of the demo to a record of the release', async ({ ui, page, browser }) => {
  await page.goto(demo.link!);
  await expect(page.getByRole('main')).toContainText(/You will be signed in as demo, operator, of ZooKeeper \S+\./);
  await page.getByRole('button', { name: 'Open the dashboard' }).click();
  await expect(page).toHaveURL(`${demo.url}/`);
  await expect(page.getByTestId('visitor')).toContainText('operator');
  // With a history, tools for whoever may act, and a name: all of it in one line.
  for (const width of [1280, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    expect((await page.getByRole('banner').boundingBox())!.height, `the top line at ${width} px`).toBeLessThan(60);
  }

  // The one that hangs holds, and others wait behind it.
  await expect
    .poll(
      async () => {
        const contenders = (await demo.lock(STUCK))?.contenders ?? [];
        return contenders.some(({ role, label }) => role === 'holder' && label?.includes(HANGS)) && contenders.some(({ role }) => role === 'waiter');
      },
      { timeout: HANGS_MS },
    )
    .toBe(true);
  await ui.open(`${demo.url}/lock?path=${encodeURIComponent(STUCK)}`);
  await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();
  const dialog = page.getByTestId('release');
  await expect(page.getByTestId('release-victim')).toContainText(HANGS);
  await dialog.getByLabel(/type the lock/i).fill(STUCK);
  await dialog.getByLabel(/reason/i).fill('labels-hung hangs, orders wait');
  await page.getByTestId('release-go').click();
  const result = page.getByTestId('release-result');
  await expect(result).toHaveAttribute('data-outcome', 'released');
  // The samples hold for a moment only: who has it by then may be one further on, but nobody is left standing.
  await expect(result).toContainText(/labels-hung.* no longer holds .*(took it|holds it now)/);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByTestId('dossier').filter({ hasText: HANGS })).toHaveCount(0);

  await page.getByRole('link', { name: 'Audit' }).click();
  const rows = page.getByTestId('audit').locator('tbody tr').filter({ hasText: STUCK });
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText('released');
  await expect(rows.last()).toContainText('labels-hung hangs, orders wait');
  const said = /the audit log is in (.+?); verify it with: (.+)$/m.exec(demo.log);
  const where = said?.[1] ?? '';
  await expect(page.getByRole('main')).toContainText(where);
  expect(said?.[2]).toBe(`lockscope audit verify --data-dir ${where}`);
  expect(demo.command('audit', 'verify', '--data-dir', where)).toMatch(/whole/);

  await test.step('the link is good for once', async () => {
    const elsewhere = await browser.newContext();
    const again = await elsewhere.newPage();
    await again.goto(demo.link!);
    await expect(again.getByRole('alert')).toContainText('This link was used already');
    await expect(again.getByRole('button', { name: 'Open the dashboard' })).toHaveCount(0);
    const ui = new Page(again, true);
    await ui.open(`${demo.url}/lock?path=${encodeURIComponent(STUCK)}`);
    await ui.openTable();
    await expect(ui.contenders.first()).toBeVisible();
    await expect(again.locator('[data-release]')).toHaveCount(0);
    await elsewhere.close();
  });

  await test.step('the deadlock fires one alert, which is acknowledged, silenced and told again', async () => {
    const firing = page.getByTestId('alerts-firing').locator('li').filter({ hasText: 'Deadlock' });
    await expect
      .poll(
        async () => {
          await page.goto(`${demo.url}/alerts`);
          return firing.count();
        },
        { timeout: HANGS_MS },
      )
      .toBe(1);
    await expect(page.getByTestId('alerts-summary')).toContainText(/alerts? fires?/);
    for (const scheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await expectAccessible(page, `alerts, ${scheme}`);
    }
    await firing.getByText('Acknowledge or silence').click();
    await firing.getByLabel('What you do about it').fill('looking at the transfers');
    await firing.getByRole('button', { name: 'Acknowledge' }).click();
    await expect(page.getByTestId('alerts-done')).toContainText('acknowledged');
    await expect(firing).toContainText('looking at the transfers');

    // The board says who looks, beside the problem, on the wall too; the line below tells what nobody looks at.
    for (const place of ['/', '/wall']) {
      await page.goto(`${demo.url}${place}`);
      await expect(page.getByTestId('looked-after').first()).toContainText(/has looked at it for/);
      await expect(page.getByTestId('alert-banner')).toContainText(/alerts? fires?/);
    }
    // The palette knows it as an incident and as an alert, and who looks; without scripts the page that finds does.
    await page.goto(`${demo.url}/`);
    await expect(page.locator('body[data-hydrated]')).toBeAttached();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Find' });
    await palette.getByRole('combobox').fill('deadlock has looked at it');
    const found = palette.getByRole('option', { name: /has looked at it for/ });
    await expect(found).toHaveCount(2);
    await expectAccessible(page, 'palette, incidents and alerts');
    await found.first().click();
    await expect(page).toHaveURL((url) => url.pathname === '/incident');
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await page.goto(`${demo.url}/find?q=alert+looked`);
    await page.getByRole('link', { name: /fires for .* has looked at it for/ }).click();
    await expect(page).toHaveURL((url) => url.pathname === '/alerts' && url.hash.startsWith('#alert-'));
    await expect(page.locator('.alert:target')).toContainText('looking at the transfers');
    await page.goto(`${demo.url}/alerts`);
    await firing.getByText('Acknowledge or silence').click();
    await firing.getByLabel('Why').fill('they are being mended');
    await firing.getByRole('button', { name: 'Silence' }).click();
    await expect(page.getByTestId('alerts-done')).toContainText('silenced');
    await expect(firing).toContainText('they are being mended');
    await page.getByRole('button', { name: /^End/ }).click();
    await expect(page.getByTestId('alerts-done')).toContainText('ended');
    await expect(page.getByTestId('silences-none')).toBeVisible();

    // Whoever may only look reads the same, also without scripts.
    const elsewhere = await browser.newContext({ javaScriptEnabled: false });
    const viewer = await elsewhere.newPage();
    await viewer.goto(`${demo.url}/alerts`);
    await expect(viewer.getByTestId('alerts-firing')).toContainText('looking at the transfers');
    await expect(viewer.getByTestId('alerts-viewer')).toContainText('needs an operator');
    await expect(viewer.locator('form[action^="/alerts"]')).toHaveCount(0);
    await elsewhere.close();
  });

  await test.step('signed out, there is nothing to press', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(page.getByRole('button', { name: 'Sign out' })).toHaveCount(0);
    await ui.open(`${demo.url}/lock?path=${encodeURIComponent(STUCK)}`);
    await ui.openTable();
    await expect(ui.contenders.first()).toBeVisible();
    await expect(page.locator('[data-release]')).toHaveCount(0);
  });
});
