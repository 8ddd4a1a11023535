// The board as it is served, and the same with JavaScript on: rows, what they say, and the filter as a form.

import { expect, test } from '../../support/fixtures.ts';

test('a row says who holds, who waits and what that means', async ({ ui, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [holder, waiter] = await clients.openAll('packer', 'shipper');
  const held = await holder!.hold(path);
  const waits = await waiter!.queue(path);
  await lockscope.knows(path, [held.node, waits.node]);

  await ui.openBoard({ q: path });
  await expect(ui.locks).toHaveCount(1);
  await expect(ui.cell(path, 'verdict')).toContainText(/healthy/i);
  await expect(ui.cell(path, 'sentence')).toContainText('packer holds it. 1 waits.');
  await expect(ui.cell(path, 'holder')).toContainText(held.session);
  await expect(ui.cell(path, 'waiters')).toHaveText(/^\s*1\b/);
  await expect(ui.cell(path, 'hold')).toContainText(/\d/);
  await expect(ui.cell(path, 'oldest')).toContainText(/\d/);
  await expect(ui.cell(path, 'depth')).toHaveCount(1);
});

test('a row leads to the page of its lock', async ({ ui, clients, lockscope, place, page }) => {
  const path = `${place}/orders`;
  const client = await clients.open('packer');
  const held = await client.hold(path);
  await lockscope.knows(path, [held.node]);

  await ui.openBoard({ q: path });
  await ui.lock(path).getByRole('link').first().click();
  await expect(page).toHaveURL((url) => url.pathname === '/lock' && url.searchParams.get('path') === path);
  await ui.openTable();
  await expect(ui.contender(held.node)).toBeVisible();
});

test('the filter is a form that needs no script', async ({ ui, clients, lockscope, place, page }) => {
  const [one, other] = await clients.openAll('one', 'other');
  const inApples = await one!.hold(`${place}/apples`);
  const inPears = await other!.hold(`${place}/pears`);
  await lockscope.knows(`${place}/apples`, [inApples.node]);
  await lockscope.knows(`${place}/pears`, [inPears.node]);

  await ui.openBoard();
  await ui.filter.fill(`${place}/apples`);
  await ui.filter.press('Enter');
  await expect(page).toHaveURL((url) => url.pathname === '/' && url.searchParams.get('q') === `${place}/apples`);
  await expect(ui.lock(`${place}/apples`)).toBeVisible();
  await expect(ui.lock(`${place}/pears`)).toHaveCount(0);
  await expect(ui.filter).toHaveValue(`${place}/apples`);
});

test('every part of a deep link is obeyed', async ({ ui, clients, lockscope, place, page }) => {
  const names = ['c', 'a', 'b'];
  for (const [at, name] of names.entries()) {
    const waiters = await clients.openAll(...Array.from({ length: at + 1 }, (_, n) => `${name}${n}`));
    const places = [await waiters[0]!.hold(`${place}/${name}`)];
    for (const waiter of waiters.slice(1)) places.push(await waiter.queue(`${place}/${name}`));
    await lockscope.knows(`${place}/${name}`, places.map(({ node }) => node));
  }
  const order = async () => ui.locks.evaluateAll((rows) => rows.map((row) => row.getAttribute('data-lock')?.at(-1)).join(''));

  await ui.openBoard({ q: place, sort: 'path' });
  await expect.poll(order).toBe('abc');
  await ui.openBoard({ q: place, sort: 'depth' });
  await expect.poll(order).toBe('bac');
  await ui.openBoard({ q: `${place} !${place}/b`, sort: 'path' });
  await expect.poll(order).toBe('ac');
  await ui.openBoard({ q: place, sort: 'path', verdict: 'healthy', recipe: 'sequential_mutex', root: '/', group: 'root' });
  await expect.poll(order).toBe('abc');
  await expect(page).toHaveURL((url) => url.searchParams.get('group') === 'root');
  await ui.openBoard({ q: place, verdict: 'stuck' });
  await expect(ui.locks).toHaveCount(0);
});

test('a board without a match says so', async ({ ui, clients, lockscope, place, page }) => {
  const client = await clients.open('somebody');
  const held = await client.hold(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node]);
  await ui.openBoard({ q: '/nowhere/to/be/found' });
  await expect(ui.locks).toHaveCount(0);
  await expect(page.getByText('No lock matches "/nowhere/to/be/found".')).toBeVisible();
});

test('a deep link with a wrong value says what is wrong', async ({ ui, page, problems }) => {
  problems.expect(/Failed to load resource: the server responded with a status of 400/);
  await ui.open('/?sort=prettiest');
  await expect(page.locator('body')).toContainText('prettiest');
});
