// What needs somebody stands first: one line a problem, with who, since when, whom it hurts, and the next step. With
// scripts and without.

import { expect, test } from '../../support/fixtures.ts';

test('problems come first, worst first, a deadlock as one', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('live');
  await ui.open(url);
  const needs = page.getByTestId('need');
  await expect(page.getByTestId('needs').getByRole('heading')).toHaveText('10 need you');
  const first = needs.first();
  await expect(first).toContainText('deadlocked');
  await expect(first.getByRole('link', { name: '/app/a' })).toBeVisible();
  await expect(first.getByRole('link', { name: '/app/b' })).toBeVisible();
  await expect(needs.filter({ hasText: '/app/b' })).toHaveCount(1);
  await expect(needs.nth(1)).toContainText('two owners');
  const stuck = needs.filter({ hasText: '/app/stuck' });
  await expect(stuck.getByTestId('headline')).toContainText(/has held it for ≥ 2 h 10 min \(usually 0\.3 s\)\. 12 wait\./);
  await expect(stuck.getByTestId('next-step')).toContainText('Find the process of');
  const command = stuck.getByText('ss -Htnp');
  await expect(command).toBeVisible({ visible: !ui.hasScript });
  await expect(page.getByTestId('needs')).toContainText('And 2 more problems');
  const verdicts = await ui.locks.evaluateAll((rows) => rows.slice(0, 4).map((row) => row.getAttribute('data-verdict')));
  expect(verdicts).toEqual(['deadlocked', 'deadlocked', 'double_owner', 'maybe_deadlocked']);
});

test('where nothing needs anybody one line says so', async ({ ui, page, clients, place, lockscope }) => {
  // Other tests make locks here too: only that the line is true counts.
  const held = await (await clients.open('holder')).hold(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node]);
  await ui.openBoard({ q: place });
  const fine = page.getByTestId('all-fine');
  await expect(fine.or(page.getByTestId('need').first())).toBeVisible();
  if (await fine.isVisible()) await expect(fine).toContainText(/All \d+ locks are fine|1 lock is fine|No problem is seen; of \d+ locks? it is not known/);
});

test('a lock says what to do, in order, and why', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('live');
  await ui.open(`${url}/lock?path=/app/stuck`);
  const advice = page.getByTestId('advice');
  await expect(advice.getByRole('listitem')).toHaveCount(3);
  await expect(advice.getByRole('listitem').last()).toContainText('Release needs an operator');
  await expect(page.getByTestId('why')).toContainText('more than 40 times the median');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('/app/stuck');
  await ui.open(`${url}/lock?path=/app/idle`);
  await expect(advice).toHaveCount(0);
});

test('the built-in help has every word, and needs no script', async ({ ui, page, lockscope }) => {
  await page.goto(`${lockscope.url}/help#verdict-stuck`);
  await expect(page.locator('#verdict-stuck')).toContainText('If it hangs, restart it');
  await expect(page.locator('#finding-herd')).toBeVisible();
  await expect(page.locator('#term-zxid')).toContainText('Transaction id');
  await ui.openBoard();
});

test('heads of columns sort', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('live');
  await ui.open(url);
  const head = (name: string) => page.getByRole('columnheader', { name });
  await expect(head('Verdict')).toHaveAttribute('aria-sort', 'descending');
  await head('Lock').getByRole('link').click();
  await expect(page).toHaveURL(/sort=path/);
  await expect(head('Lock')).toHaveAttribute('aria-sort', 'ascending');
  await expect(head('Verdict')).not.toHaveAttribute('aria-sort');
});

test('the wallboard says how things are, and stands still', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('live');
  await ui.open(`${url}/wall`);
  const wall = page.getByTestId('wall');
  await expect(wall).toContainText('10');
  await expect(wall).toContainText('need you');
  await expect(wall.getByRole('listitem').first()).toContainText('/app/a');
  if (ui.hasScript) await expect(wall).toHaveAttribute('data-mood', 'bad');
  const scrolls = await page.evaluate(() => document.documentElement.scrollHeight > innerHeight).catch(() => false);
  expect(scrolls).toBe(false);
});
