// Releasing a lock through the dialog: the right znode goes, the next one holds, and there is a record. Whoever may not,
// can't; and nothing live moves an open dialog.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';
import { tabTo } from '../../support/keyboard.ts';
import { signIn } from '../../support/sign-in.ts';

test('the holder is released, the next one holds, and there is a record', async ({ ui, page, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [stuck, next] = await clients.openAll('stuck', 'next');
  const places = [await stuck!.hold(path), await next!.queue(path)];
  await lockscope.knows(path, places.map(({ node }) => node));
  await signIn(page, lockscope, 'operator');
  await ui.openLock(path);
  await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();

  const dialog = page.getByTestId('release');
  const go = page.getByTestId('release-go');
  await expect(dialog).toContainText(places[0]!.session);
  await expect(page.getByTestId('release-warnings')).toContainText(/goes on|believe/);
  await expect(go).toBeDisabled();
  await dialog.getByLabel(/type the lock/i).fill(`${path} `);
  await dialog.getByLabel(/reason/i).fill('hangs since noon');
  await expect(go).toBeDisabled();
  await page.keyboard.press('Enter');
  await expect(go, 'Enter does nothing yet').toBeVisible();
  await dialog.getByLabel(/type the lock/i).fill(path);
  await go.click();

  const result = page.getByTestId('release-result');
  await expect(result).toHaveAttribute('data-outcome', 'released');
  await expect(result).toContainText(new RegExp(`no longer holds ${path}\\. .*(took it|holds it now)`));
  await dialog.getByText('Details').click();
  await expect(dialog).toContainText(/0x[0-9a-f]+ .*deleted.*now held by.*Proven: /i);
  await next!.held();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(dialog).toBeHidden();
  await ui.showsQueue([places[1]!]);

  const forced = page.locator('.past-sides tr[data-how="forced"]');
  await expect(forced).toHaveCount(1);
  await expect(forced).toHaveAttribute('data-how', 'forced');
  await expect(forced).toContainText(/released by operator-\d+, record #\d+$/);
  const record = forced.getByRole('link', { name: /record #/ });
  const number = /#(\d+)$/.exec((await record.textContent())!)![1];
  await record.click();
  await expect(page).toHaveURL(new RegExp(`/audit\\?.*#r${number}$`));
  await expect(page.locator(`#r${number}`)).toHaveAttribute('data-outcome', 'released');

  await page.getByRole('link', { name: 'Audit' }).click();
  const rows = page.getByTestId('audit').locator('tbody tr').filter({ hasText: path });
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText('released');
  await expect(rows.last()).toContainText('hangs since noon');
  expect(lockscope.command('audit', 'verify')).toMatch(/whole/);

  // Who may not read the audit log is told that, and not by whom.
  await signIn(page, lockscope, 'viewer');
  await ui.openLock(path);
  await expect(forced).toContainText(/released through Lockscope$/);
  await expect(forced).not.toContainText('operator-');
  await expect(forced.getByRole('link', { name: /record/ })).toHaveCount(0);
});

test('a release from the board to its record, by keyboard alone', async ({ ui, page, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [stuck, next] = await clients.openAll('stuck', 'next');
  const places = [await stuck!.hold(path), await next!.queue(path)];
  await lockscope.knows(path, places.map(({ node }) => node));
  await signIn(page, lockscope, 'operator');
  await ui.openBoard({ q: place });
  await expect(ui.lock(path)).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByTestId('dossier').getByRole('button', { name: /release/i }));
  await page.keyboard.press('Enter');
  const dialog = page.getByTestId('release');
  await tabTo(page, dialog.getByLabel(/type the lock/i));
  await page.keyboard.type(path);
  await tabTo(page, dialog.getByLabel(/reason/i));
  await page.keyboard.type('hangs since noon');
  await tabTo(page, page.getByTestId('release-go'));
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('release-result')).toHaveAttribute('data-outcome', 'released');
  await next!.held();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
});

test('the palette releases what its page is about, and signs out', async ({ ui, page, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [only] = await clients.openAll('only');
  const held = await only!.hold(path);
  await lockscope.knows(path, [held.node]);
  await signIn(page, lockscope, 'operator');
  const palette = page.getByRole('dialog', { name: 'Find' });
  const find = async (text: string) => {
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').fill(text);
  };
  await ui.open(`${lockscope.url}/waits`);
  await ui.isLive();
  await find('release this');
  await expect(palette.getByText('No results.'), 'nothing to release here').toBeVisible();
  await page.keyboard.press('Escape');
  await ui.openLock(path);
  await find('release this');
  await page.keyboard.press('Enter');
  const dialog = page.getByTestId('release');
  await expect(dialog.getByLabel(/type the lock/i)).toBeVisible();
  await expect(dialog.getByText('Type the path and a reason to go on')).toBeVisible();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await find('log out');
  await expect(palette.getByRole('option', { name: /Sign in/ })).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('link', { name: 'Sign in' })).toBeVisible();
});

test('what is sent is the path as it was typed', async ({ ui, page, clients, lockscope, place }) => {
  // A character that turns the direction of writing is shown by a sign, and nobody can type it otherwise.
  const [path, shown] = [`${place}/or\u202eders`, `${place}/or\u2425ders`];
  const [only] = await clients.openAll('only');
  const held = await only!.hold(path);
  await lockscope.knows(path, [held.node]);
  await signIn(page, lockscope, 'operator');
  await ui.openLock(path);
  await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();
  const dialog = page.getByTestId('release');
  await dialog.getByLabel(/type the lock/i).fill(shown);
  await dialog.getByLabel(/reason/i).fill('typed as shown');
  const sent = page.waitForRequest(/release\/execute/);
  await page.getByTestId('release-go').click();
  expect((await sent).postDataJSON()).toMatchObject({ confirm: shown });
  await expect(page.getByTestId('release-result')).toHaveAttribute('data-outcome', 'released');
});

test('what changes below an open dialog is said, and nothing else happens to it', async ({ ui, page, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [first, second] = await clients.openAll('first', 'second');
  const places = [await first!.hold(path), await second!.queue(path)];
  await lockscope.knows(path, places.map(({ node }) => node));
  await signIn(page, lockscope, 'operator');
  await ui.openLock(path);
  await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();
  const dialog = page.getByTestId('release');
  const go = page.getByTestId('release-go');
  await dialog.getByLabel(/type the lock/i).fill(path);
  await dialog.getByLabel(/reason/i).fill('too long');
  await expect(go).toBeEnabled();
  const box = await dialog.boundingBox();

  await first!.release();
  await second!.held();
  await expect(page.getByTestId('release-state')).toContainText('It is gone');
  await expect(go).toBeDisabled();
  await expect(dialog).toContainText(places[0]!.session);
  await expect(dialog.getByLabel(/reason/i)).toHaveValue('too long');
  expect(await dialog.boundingBox(), 'it does not move').toEqual(box);
  await second!.release();
  await expect(page.getByTestId('release-state')).toContainText('It is gone');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
});

test('a waiter in the middle can be removed, and the one behind it is not stranded', async ({ ui, page, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [a, b, c] = await clients.openAll('a', 'b', 'c');
  const places = [await a!.hold(path), await b!.queue(path), await c!.queue(path)];
  await lockscope.knows(path, places.map(({ node }) => node));
  await signIn(page, lockscope, 'operator');
  await ui.openLock(path);
  await ui.contender(places[1]!.node).hover();
  await ui.contender(places[1]!.node).getByRole('button', { name: /release/i }).click();
  const dialog = page.getByTestId('release');
  await expect(dialog).toContainText('Remove this waiter?');
  await dialog.getByLabel(/type the lock/i).fill(path);
  await dialog.getByLabel(/reason/i).fill('its client is gone');
  await page.getByTestId('release-go').click();
  await expect(page.getByTestId('release-result')).toHaveAttribute('data-outcome', 'released');
  await a!.release();
  await c!.held();
});

test('a viewer has no button, and is refused', async ({ ui, page, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const client = await clients.open('holder');
  const held = await client.hold(path);
  await lockscope.knows(path, [held.node]);
  await signIn(page, lockscope, 'viewer');
  await ui.openLock(path);
  await expect(page.getByTestId('dossier')).toBeVisible();
  await expect(page.locator('[data-release]')).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Audit' })).toHaveCount(0);
  const answer = await page.request.post('/api/v1/release/plan', { headers: { origin: lockscope.url }, data: { path: `${path}/${held.node}` } });
  expect(answer.status()).toBe(403);
  expect(await answer.text()).toContain('operator');
});

test('signing out takes the button and the record away', async ({ ui, page, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const client = await clients.open('holder');
  const held = await client.hold(path);
  await lockscope.knows(path, [held.node]);
  await signIn(page, lockscope, 'operator');
  await ui.openLock(path);
  await expect(page.locator('[data-release]').first()).toBeVisible();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('link', { name: 'Sign in' })).toBeVisible();
  await ui.openLock(path);
  await expect(page.getByTestId('dossier')).toBeVisible();
  await expect(page.locator('[data-release]')).toHaveCount(0);
});

for (const colorScheme of ['dark', 'light'] as const) {
  test(`dialog, sign-in and record have nothing serious, ${colorScheme}`, async ({ ui, page, clients, lockscope, place }) => {
    const path = `${place}/orders`;
    const client = await clients.open('holder');
    const held = await client.hold(path);
    await lockscope.knows(path, [held.node]);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const check = (what: string) => expectAccessible(page, what);
    await page.goto('/sign-in');
    await check('sign-in');
    await signIn(page, lockscope, 'operator');
    await ui.openLock(path);
    await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();
    await expect(page.getByTestId('release-go')).toBeVisible();
    await check('dialog');
    await page.keyboard.press('Escape');
    await page.goto('/audit');
    await check('audit');
  });
}

test('signed in, no page is wider than the narrowest screen', async ({ ui, page, clients, lockscope, place }) => {
  const path = `${place}/a-name-that-is-rather-long/orders`;
  const [holder, waiter] = await clients.openAll('holder', 'waiter');
  const places = [await holder!.hold(path), await waiter!.queue(path)];
  await lockscope.knows(path, places.map(({ node }) => node));
  await signIn(page, lockscope, 'operator');
  // 320 px: a window of 1280 px at 400 %.
  await page.setViewportSize({ width: 320, height: 640 });
  const fits = async (what: string) => expect(await ui.overflow(), what).toBeLessThanOrEqual(0);
  for (const target of ['/', '/sessions', `/session?id=${holder!.session}`, '/waits', '/status', '/audit', '/lab', '/find?q=orders', '/sign-in']) {
    await page.goto(target);
    await expect(page.locator('main')).toBeVisible();
    await fits(target);
  }
  await ui.openLock(path);
  await expect(ui.contenders).toHaveCount(2);
  await fits('the lock');
  await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();
  await expect(page.getByTestId('release-go')).toBeVisible();
  await fits('the dialog');
});
