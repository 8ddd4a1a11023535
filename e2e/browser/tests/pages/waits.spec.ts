// The page of waits as it is served, and the same with JavaScript on: deadlocks as rings, the graph, the blocking tree,
// the table.

import { type Client, type Clients } from '../../support/clients.ts';
import { expect, test } from '../../support/fixtures.ts';

const MUTEX = `${'0'.repeat(32)}__lock__`;

/** Each of the sessions holds one lock and waits for the next one's: the ids in that order, and the locks they hold. */
async function circle(clients: Clients, place: string, ...names: string[]): Promise<{ sessions: string[]; locks: string[] }> {
  const members = await clients.openAll(...names);
  const locks = names.map((name) => `${place}/${name}`);
  const stand = async (at: number, lock: string) => members[at]!.create(`${lock}/${MUTEX}`, { data: names[at]!, ephemeral: true, sequence: true });
  for (const [at, lock] of locks.entries()) await stand(at, lock);
  for (const at of locks.keys()) await stand(at, locks[(at + 1) % locks.length]!);
  return { sessions: members.map(({ session }) => session), locks };
}

type Api = { cycles: { locks: string[] }[]; edges: { lock: string }[] };

test('a deadlock is a ring with links, and is drawn and listed', async ({ ui, clients, lockscope, place, page }) => {
  const { sessions, locks } = await circle(clients, place, 'anna', 'bert');
  await expect
    .poll(async () => ((await (await fetch(`${lockscope.url}/api/v1/waits`)).json()) as Api).cycles.map((cycle) => [...cycle.locks].sort()))
    .toEqual([[...locks].sort()]);

  await ui.open('/waits');
  await ui.isLive();
  await expect(page.getByTestId('lead')).toContainText('1 deadlock');
  const card = page.getByTestId('cycle');
  await expect(card).toHaveCount(1);
  await expect(card.getByRole('heading')).toHaveText('Deadlock: 2 sessions wait for each other.');
  const ring = card.getByRole('group', { name: 'Deadlock: 2 sessions wait for each other.' });
  for (const name of ['anna', 'bert']) await expect(ring.getByRole('link', { name, exact: true })).toHaveAttribute('href', /^\/session\?.*id=0x/);
  const hrefs = await ring.locator('.ring-lock a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  expect(hrefs.map((href) => new URL(href!, 'http://x').searchParams.get('path')).sort()).toEqual([...locks].sort());
  await expect(card).toContainText(/Releasing (anna|bert)’s hold on \S+ costs least\. It has held shortest/);
  await expect(card).toContainText('If these are different threads of one client, this is no deadlock.');
  const boxes = page.getByTestId('graph').locator('.graph-box');
  await expect(boxes).toHaveCount(2);
  for (const box of await boxes.all()) await expect(box).toHaveAttribute('data-cycle', 'true');
  const rows = page.getByTestId('waits').locator('tbody tr');
  await expect(rows).toHaveCount(2);
  await page.getByRole('heading', { name: 'Who waits for whom, longest first' }).click();
  await expect(rows.first()).toContainText('deadlock');
  await expect(rows.first().getByRole('link', { name: locks[0]! }).or(rows.first().getByRole('link', { name: locks[1]! }))).toHaveCount(1);
  await expect(rows.first().getByRole('link').first()).toHaveAttribute('title', new RegExp(sessions.join('|')));
});

test('a circle of three and a bystander are told apart', async ({ ui, clients, lockscope, place, page }) => {
  const { locks } = await circle(clients, place, 'a', 'b', 'c');
  const waiter = await clients.open('bystander');
  await waiter.create(`${locks[0]}/${MUTEX}`, { data: 'bystander', ephemeral: true, sequence: true });
  await expect.poll(async () => ((await (await fetch(`${lockscope.url}/api/v1/waits`)).json()) as Api).edges.length).toBeGreaterThan(3);
  await expect.poll(async () => ((await (await fetch(`${lockscope.url}/api/v1/waits`)).json()) as Api).cycles.length).toBe(1);

  await ui.open('/waits');
  await expect(page.getByTestId('cycle')).toHaveCount(1);
  const hrefs = await page.getByTestId('ring').locator('.ring-lock a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  expect(hrefs.map((href) => new URL(href!, 'http://x').searchParams.get('path')).sort()).toEqual([...locks].sort());
  await expect(page.getByTestId('lead')).toHaveText(/^1 deadlock\. 4 sessions wait for each other in 3 locks\.$/);
  const boxes = page.getByTestId('graph').locator('.graph-box');
  await expect(boxes).toHaveCount(4);
  await expect(page.getByTestId('graph').locator('.graph-box[data-cycle]')).toHaveCount(3);
});

test('a chosen session is in the address, and the table is about it', async ({ ui, clients, lockscope, place, page }) => {
  const [anna, bert, carl] = await clients.openAll('anna', 'bert', 'carl');
  const orders = [await anna!.hold(`${place}/orders`), await bert!.queue(`${place}/orders`)];
  const mails = [await anna!.create(`${place}/mails/${MUTEX}`, { ephemeral: true, sequence: true }), await carl!.queue(`${place}/mails`)];
  await lockscope.knows(`${place}/orders`, orders.map(({ node }) => node));
  expect(mails).toHaveLength(2);
  await expect.poll(async () => ((await (await fetch(`${lockscope.url}/api/v1/waits`)).json()) as Api).edges.length).toBe(2);

  await ui.open('/waits');
  await expect(page.getByTestId('waits').locator('tbody tr')).toHaveCount(2);
  await ui.open(`/waits?session=${bert!.session}`);
  await expect(page.getByRole('heading', { name: `Waits of ${bert!.session}` })).toBeVisible();
  await expect(page.getByTestId('waits').locator('tbody tr')).toHaveCount(1);
  await expect(page.getByTestId('graph').locator('[aria-pressed=true]')).toHaveCount(1);
});

test('the blocking tree unfolds to those behind, and to what they hold', async ({ ui, clients, lockscope, place, page }) => {
  const [anna, bert, carl, dora] = await clients.openAll('anna', 'bert', 'carl', 'dora');
  const held = await anna!.hold(`${place}/orders`);
  const next = await bert!.create(`${place}/mails/${MUTEX}`, { data: 'bert', ephemeral: true, sequence: true });
  const queued = await bert!.create(`${place}/orders/${MUTEX}`, { data: 'bert', ephemeral: true, sequence: true });
  const others = [await carl!.queue(`${place}/mails`), await dora!.queue(`${place}/orders`)];
  expect([next, queued, ...others]).toHaveLength(4);
  type Tree = { tree: { depth: number; session_id: string; behind: number }[]; waiting: number; blocking: number; contended: number };
  const tree = async () => {
    const { tree, waiting, blocking, contended } = (await (await fetch(`${lockscope.url}/api/v1/waits`)).json()) as Tree;
    return [waiting, blocking, contended, ...tree.map(({ depth, behind }) => [depth, behind])];
  };
  await expect.poll(tree).toEqual([3, 1, 2, [0, 3], [1, 1], [2, 0], [1, 0]]);

  await ui.open('/waits');
  await expect(page.getByTestId('lead')).toHaveText('No deadlock. 3 sessions wait for 1 other in 2 locks.');
  const folds = page.getByTestId('tree').locator('details');
  await expect(folds).toHaveCount(2);
  const root = page.getByTestId('tree').locator('.tree-line').first();
  await expect(root).toContainText(/anna.*holds.*\/orders/s);
  await expect(root.getByRole('link', { name: 'anna' })).toHaveAttribute('href', new RegExp(`id=${held.session}`));
  const sum = folds.first().locator('summary').first();
  await expect(sum).toContainText(/3 wait, .* in all/);
  await expect(page.getByTestId('tree').getByText('carl')).toBeHidden();
  await sum.click();
  await expect(page.getByTestId('tree').locator('.tree-line').nth(1)).toContainText(/bert.*waits for.*\/orders.*holds.*\/mails/s);
  await expect(page.getByTestId('tree').getByText('dora')).toBeVisible();
  const second = folds.nth(1).locator('summary');
  await expect(second).toContainText(/1 waits, .* in all/);
  await second.click();
  await expect(page.getByTestId('tree').getByText('carl')).toBeVisible();
});

test('who stands by for a leader does not wait', async ({ ui, clients, lockscope, place, page }) => {
  const [leader, standby] = await clients.openAll('leader', 'standby');
  const latch = async (one: Client, uuid: string) => one.create(`${place}/office/_c_${uuid}-latch-`, { data: 'x', ephemeral: true, sequence: true });
  await latch(leader!, '0b0b0b0b-1111-4222-8333-444444444444');
  await latch(standby!, '0b0b0b0b-1111-4222-8333-555555555555');
  const read = async () => (await (await fetch(`${lockscope.url}/api/v1/locks?q=${place}`)).json()) as { locks: { recipe: string; waiter_count: number }[] };
  await expect.poll(async () => (await read()).locks.map(({ recipe, waiter_count }) => [recipe, waiter_count])).toEqual([['election', 1]]);
  await ui.open('/waits');
  await expect(page.getByTestId('lead')).toContainText('Nobody waits.');
});

test('where nobody waits the page says what was looked at', async ({ ui, clients, lockscope, place, page }) => {
  const client = await clients.open('lonely');
  const held = await client.hold(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node]);
  await expect.poll(async () => ((await (await fetch(`${lockscope.url}/api/v1/waits`)).json()) as Api).edges.length).toBe(0);

  await ui.open('/waits');
  await expect(page.getByTestId('lead')).toContainText(/^Nobody waits\. Lockscope watches [1-9]\d* locks?\.$/);
  await expect(page.getByTestId('graph')).toHaveCount(0);
});
