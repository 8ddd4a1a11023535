// The page with fresh eyes, over made-up locks: tab, palette, copying, names, paper, and what is said when there is nothing.

import { expectAccessible } from '../../support/axe.ts';
import { expect, overMadeUp as test } from '../../support/fixtures.ts';

const ARABIC = '/app/قفل-الطلبات';

test('the tab tells the worst on every page', async ({ ui, page, problems }) => {
  problems.expectNotFound();
  const icon = page.locator('link[rel=icon]');
  for (const [address, name] of [
    ['/', ''],
    ['/waits', 'Waits · '],
    ['/sessions', 'Sessions · '],
    ['/status', 'Status · '],
    ['/lock?path=/order', '/order · '],
    ['/nothing', 'No such page · '],
  ] as const) {
    await page.goto(address);
    await ui.hydrated();
    await expect(page).toHaveTitle(`2 deadlocked · ${name}Lockscope`);
    await expect(icon).toHaveAttribute('href', '/favicon-bad.svg');
  }
  // Drawn by the server alone, and on the way from page to page.
  await page.goto('/lab');
  await expect(page).toHaveTitle('2 deadlocked · Lab · Lockscope');
  for (const name of ['', '-warn', '-odd', '-bad', '-lost']) expect((await page.request.get(`/favicon${name}.svg`)).status()).toBe(200);
});

test.describe('a link that is lost', () => {
  test('shows in the tab', async ({ ui, page, problems, madeUp }) => {
    problems.expectOutage();
    const own = await madeUp('live');
    await page.goto(`${own.url}/waits`);
    await ui.hydrated();
    await expect(page).toHaveTitle(/^2 deadlocked/);
    await own.kill();
    await expect(page).toHaveTitle('OFFLINE · Waits · Lockscope');
    await expect(page.locator('link[rel=icon]')).toHaveAttribute('href', '/favicon-lost.svg');
  });
});

test('the palette finds a lock by a part of its path, by keyboard alone', async ({ ui, page }) => {
  await ui.openBoard();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Find' });
  const input = palette.getByRole('combobox');
  await expect(input).toBeFocused();
  await expect(palette.getByRole('option', { name: /Waits/ })).toBeVisible();
  await page.keyboard.type('stuck');
  const first = palette.getByRole('option').first();
  await expect(first).toContainText('/app/stuck');
  await expect(first).toHaveAttribute('aria-selected', 'true');
  await expect(input).toHaveAttribute('aria-activedescendant', 'palette-0');
  await expectAccessible(page, 'palette');
  // What is typed here is not heard by the page behind.
  await expect(page).toHaveURL((url) => url.search === '');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL((url) => url.pathname === '/lock' && url.searchParams.get('path') === '/app/stuck');
  await expect(palette).toBeHidden();

  await page.getByRole('link', { name: /Find/ }).click();
  await expect(palette.getByRole('option').first()).toBeVisible();
  await page.keyboard.type('sess');
  await expect(palette.getByRole('option', { name: /^Sessions/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(palette).toBeHidden();
});

test('the palette goes round, knows sessions and acts, and says when nothing fits', async ({ ui, page }) => {
  await ui.open('/status');
  const palette = page.getByRole('dialog', { name: 'Find' });
  const input = palette.getByRole('combobox');
  const selected = palette.locator('[aria-selected=true]');
  await page.keyboard.press('Control+k');
  await expect(input).toBeFocused();
  await page.keyboard.type('theme');
  await expect(selected).toContainText('Switch theme');
  await page.keyboard.press('Enter');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');

  await expect(palette).toBeHidden();
  await page.keyboard.press('Control+k');
  // Nothing of the last time: neither what was typed, nor what Enter would have done.
  await expect(input).toBeFocused();
  await expect(input).toHaveValue('');
  await page.keyboard.type('0x100000000000abc');
  await expect(input).toHaveValue('0x100000000000abc');
  await expect(selected).toContainText('Open session 0x100000000000abc');
  await page.keyboard.press('ArrowUp');
  await expect(palette.getByRole('option').last()).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ArrowDown');
  await expect(palette.getByRole('option').first()).toHaveAttribute('aria-selected', 'true');
  await input.fill('<b>nothing like it');
  await expect(palette.getByText('No results. Try part of a path, a client name or a session id.')).toBeVisible();
});

test('Enter opens what is typed, not what was found before', async ({ ui, page }) => {
  await ui.openBoard();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Find' });
  const input = palette.getByRole('combobox');
  await input.fill('stuck');
  await expect(palette.getByRole('option').first()).toContainText('/app/stuck');
  // The answer to what is typed next comes late.
  await page.route('**/find/answer?q=status', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 600));
    await route.continue();
  });
  await input.fill('status');
  await expect(palette.locator('.palette-answer')).toHaveAttribute('inert');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL((url) => url.pathname === '/status');
  await expect(palette).toBeHidden();
});

test('the palette knows verdicts and acts, forgives a typing mistake, and keeps its height', async ({ ui, page }) => {
  await ui.openBoard();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Find' });
  const input = palette.getByRole('combobox');
  const height = (await palette.boundingBox())!.height;
  for (const [typed, option] of [
    ['deadlock', /locks? (is|are) deadlocked/],
    ['two owners', /locks? (has|have) two owners/],
    ['pasue', /Pause or resume/],
    ['share url', /Copy link/],
    ['stcuk', /\/app\/stuck/],
  ] as const) {
    await input.fill(typed);
    await expect(palette.getByRole('option', { name: option }).first(), typed).toBeVisible();
    expect((await palette.boundingBox())!.height, typed).toBe(height);
  }
  await input.fill('zzzzzz');
  await expect(palette.getByText('No results.')).toBeVisible();
  expect((await palette.boundingBox())!.height).toBe(height);
  await input.fill('stuck');
  await palette.getByRole('option', { name: /locks? (is|are) stuck/ }).click();
  await expect(page).toHaveURL((url) => url.searchParams.get('verdict') === 'stuck');
  await page.keyboard.press('Control+k');
  await input.fill('pause');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('pause')).toHaveAttribute('aria-pressed', 'true');
});

test('one header: on every page its parts are at the same places, and the theme switches', async ({ ui, page }) => {
  await page.setViewportSize({ width: 1920, height: 1000 });
  const places = () =>
    page.evaluate(() => ['.brand', '.nav', '.find-open', '[data-testid=theme]', '.board'].map((part) => Math.round(document.querySelector(part)?.getBoundingClientRect().left ?? 0)));
  await ui.openBoard();
  const board = await places();
  expect(board[0], 'header and content begin at one edge').toBe(board[4]);
  expect(await page.locator('.banner-line > :first-child').evaluate((dot) => Math.round(dot.getBoundingClientRect().left))).toBe(board[0]);
  const right = await page.locator('.board').evaluate((rows) => Math.round(innerWidth - rows.getBoundingClientRect().right));
  expect(right, 'the width is used').toBeLessThanOrEqual(board[0]! + 20);
  for (const other of ['/status', '/find?q=order', '/waits']) {
    await page.goto(other);
    expect((await places()).slice(0, 4), other).toEqual(board.slice(0, 4));
  }
  await page.goto('/find?q=order');
  for (const [theme, word] of [
    ['dark', 'Theme: dark'],
    ['light', 'Theme: light'],
    [null, 'Theme: auto'],
    ['dark', 'Theme: dark'],
  ] as const) {
    await page.getByTestId('theme').click();
    await expect(page.getByTestId('theme')).toContainText(word);
    expect(await page.locator('html').getAttribute('data-theme')).toBe(theme);
  }
  await page.reload();
  await expect(page.getByTestId('theme')).toContainText('Theme: dark');
});

test('what is copied is told, with a clipboard and without', async ({ ui, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await ui.openLock(ARABIC);
  // Each alert is told for a moment only: kept here.
  await page.evaluate(() => {
    const look = () => document.querySelectorAll('[role=alert]').forEach(({ textContent }) => textContent?.includes('Copied') && document.body.setAttribute('data-told', textContent));
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  const told = page.locator('body[data-told]');
  await page.getByRole('button', { name: 'Copy path' }).click();
  await expect(told).toHaveCount(1);
  expect(await copied()).toBe(ARABIC);
  await page.getByText('Copy as …').click();
  await page.getByRole('button', { name: 'curl' }).click();
  await expect.poll(copied).toBe(`curl -fsS '${new URL(page.url()).origin}/api/v1/lock?path=${encodeURI(ARABIC)}'`);
  await page.getByRole('button', { name: 'Copy session id' }).first().click();
  await expect.poll(copied).toMatch(/^0x[0-9a-f]+$/);

  // As on a page that came unencrypted from another machine.
  await page.evaluate(() => {
    document.body.removeAttribute('data-told');
    document.addEventListener('copy', () => document.documentElement.setAttribute('data-by-hand', String(getSelection() ?? '') || 'input'));
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
  });
  await page.getByRole('button', { name: 'zkCli' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-by-hand', /.+/);
  await expect(told).toHaveCount(1);
});

test('order and grouping are remembered, what is shared is in the address', async ({ ui, page }) => {
  await ui.openBoard();
  await page.getByTestId('sort').selectOption('path');
  await expect(page).toHaveURL(/sort=path/);
  await ui.open('/status');
  await page.getByRole('link', { name: 'Board' }).click();
  await expect(page).toHaveURL(/sort=path/);
  await ui.openBoard({ sort: 'hold' });
  await expect(page).toHaveURL((url) => url.search === '?sort=hold');
  await ui.open('/');
  await expect(page).toHaveURL(/sort=path/);
  await page.getByTestId('sort').selectOption('worst');
  await ui.open('/');
  await expect(page).toHaveURL((url) => url.search === '');
});

for (const [mode, title, words] of [
  ['empty', 'No locks here yet', /1\u202f204 znodes seen[\s\S]*create -s -e/],
  ['unreached', 'Connecting to ZooKeeper', /no server can be reached[\s\S]*zk1:2181,zk2:2181,zk3:2181[\s\S]*Is that the client port/],
  ['denied', 'No root can be read', /\/app denied[\s\S]*READ on it[\s\S]*\/order gone[\s\S]*no such znode/],
] as const) {
  test(`nothing to see, ${mode}: why, and what helps`, async ({ ui, page, madeUp }) => {
    const own = await madeUp(mode);
    await page.goto(own.url);
    await ui.hydrated();
    const empty = page.getByTestId('empty');
    await expect(empty.getByRole('heading')).toHaveText(title);
    await expect(empty).toContainText(words);
    await expectAccessible(page, mode);
  });
}

test('a filter that nothing matches can be cleared', async ({ ui, page }) => {
  await ui.openBoard({ q: 'nothing-like-this' });
  await page.getByTestId('clear-filter').click();
  await expect(page).toHaveURL((url) => url.search === '');
  await expect(ui.locks.first()).toBeVisible();
});

test('on paper: whole names, no switches, light', async ({ ui, page }) => {
  await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
  await ui.openBoard();
  await expect(page.getByTestId('theme')).toBeHidden();
  await expect(ui.filter).toBeHidden();
  await expect(page.locator('.print-head')).toHaveText(/^\d\d:\d\d:\d\d UTC$/);
  const paper = await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  expect(paper).toBe('light');
  // The longest path is there as a whole.
  const long = page.locator('.lock-path[title*="a-very-long-name"]');
  const shown = await long.evaluate((link) => getComputedStyle(link, '::after').content.length);
  expect(shown).toBeGreaterThan(390);
  expect(await ui.overflow()).toBeLessThanOrEqual(0);
});

test('a name from right to left leaves its row as it is', async ({ ui }) => {
  await ui.openBoard({ q: 'قفل' });
  const row = ui.lock(ARABIC);
  await expect(row).toBeVisible();
  const isolation = await row.locator('bdi').first().evaluate((name) => getComputedStyle(name).unicodeBidi);
  expect(isolation).toBe('isolate');
  // The chip stays left of the name, and the name left of the recipe.
  const [chip, name, recipe] = await Promise.all([row.locator('.chip'), row.locator('.lock-path'), row.locator('.lock-recipe')].map((part) => part.boundingBox()));
  expect(chip!.x).toBeLessThan(name!.x);
  expect(name!.x).toBeLessThan(recipe!.x);
});

test('no page of a lock is wider than the narrowest screen', async ({ ui, page, lockscope }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  const { locks } = (await (await fetch(`${lockscope.url}/api/v1/locks`)).json()) as { locks: { path: string }[] };
  expect(locks.length).toBeGreaterThan(10);
  for (const path of ['', ...locks.map(({ path }) => path)]) {
    await page.goto(path ? `/lock?path=${encodeURIComponent(path)}` : '/');
    await expect(page.locator('.totals')).toBeVisible();
    expect(await ui.overflow(), path).toBeLessThanOrEqual(0);
  }
});
