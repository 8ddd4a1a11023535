// The lock page as it is served, and the same with JavaScript on: the queue as a chain and as a table, in the
// order and with the session ids that the clients themselves tell.

import { expect, test } from '../../support/fixtures.ts';

test('the queue stands in the order of its clients', async ({ ui, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [a, b, c] = await clients.openAll('a', 'b', 'c');
  const queue = [await a!.hold(path), await b!.queue(path), await c!.queue(path)];
  await lockscope.knows(path, queue.map(({ node }) => node));
  expect(await a!.children(path)).toEqual(queue);

  await ui.openLock(path);
  await ui.showsQueue(queue);
  await expect(ui.verdict).toContainText(/healthy/i);
  await expect(ui.browser.locator('body')).toContainText('a holds it. 2 wait.');
  for (const [at, { node, session }] of queue.entries()) {
    await expect(ui.contenderCell(node, 'node')).toContainText(node.slice(-10));
    await expect(ui.contenderCell(node, 'node')).toHaveAttribute('title', node);
    await expect(ui.contenderCell(node, 'sequence')).toContainText(String(Number(node.slice(-10))));
    await expect(ui.contenderCell(node, 'session')).toContainText(session);
    await expect(ui.contenderCell(node, 'time')).toContainText(/\d/);
    await expect(ui.contenderCell(node, 'liveness')).toContainText(/\w/);
    const before = queue[at - 1];
    if (before) await ui.waitsFor(node, before.node);
  }
});

test('the chain shows the holder before those who wait', async ({ ui, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [a, b] = await clients.openAll('anna', 'bert');
  const queue = [await a!.hold(path), await b!.queue(path)];
  await lockscope.knows(path, queue.map(({ node }) => node));

  await ui.openLock(path);
  await expect(ui.chain).toContainText(/anna[^]*bert/);
});

test('a lock of one znode tells that its waiters cannot be seen', async ({ ui, clients, lockscope, place }) => {
  const path = `${place}/exclusive_lock`;
  const client = await clients.open('owner');
  await client.create(`${path}/lock`, { data: 'owner', ephemeral: true });
  await lockscope.knows(path, ['lock']);

  await ui.openLock(path);
  await expect(ui.contenderCell('lock', 'session')).toContainText(client.session);
  await expect(ui.browser.locator('body')).toContainText(/Waiters can't be counted here|Nobody is seen to wait/);
});

test('a znode that nobody owns is told as an orphan', async ({ ui, clients, lockscope, place }) => {
  const path = `${place}/orphaned`;
  const [real, ghost] = await clients.openAll('real', 'ghost');
  // kazoo's name, so that it counts as a contender although it is persistent.
  await ghost!.create(`${path}/${'0'.repeat(32)}__lock__`, { sequence: true });
  const waits = await real!.queue(path);

  await expect.poll(async () => (await lockscope.lock(path))?.contenders.length).toBe(2);
  // What was only heard of is nobody's yet, and a page drawn then stays so without a script.
  await expect.poll(async () => (await lockscope.lock(path))?.verdict).toBe('orphan');
  await ui.openLock(path);
  await expect(ui.verdict).toContainText(/orphan/i);
  await expect(ui.contender(waits.node)).toBeVisible();
});

test('an unknown lock is not found, and the page says so', async ({ ui, page, problems, place }) => {
  problems.expectNotFound();
  const response = await ui.openLock(`${place}/nothing-here`);
  expect(response.status()).toBe(404);
  // That there is none is known, not waited for.
  await ui.isLive();
  await expect(page.locator('body')).toContainText(`${place}/nothing-here`);
  await expect(page.locator('body')).toContainText(/no (such )?lock|not found|no lock/i);
});

test('a lock page without a path says what is missing', async ({ ui, page, problems }) => {
  problems.expect(/Failed to load resource: the server responded with a status of 40[04]/);
  await ui.open('/lock');
  await expect(page.locator('body')).toContainText(/path/i);
});

test('an unknown address is not found', async ({ ui, page, problems }) => {
  problems.expectNotFound();
  const response = await ui.open('/no/such/page');
  expect(response.status()).toBe(404);
  await expect(page.locator('body')).toContainText(/no such page|not found/i);
});
