// The page of waits as it is served, and the same with JavaScript on: deadlocks in words, the graph, its table.

import { type Clients } from '../../support/clients.ts';
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

test('a deadlock is told in words, drawn and listed', async ({ ui, clients, lockscope, place, page }) => {
  const { sessions, locks } = await circle(clients, place, 'anna', 'bert');
  await expect
    .poll(async () => ((await (await fetch(`${lockscope.url}/api/v1/waits`)).json()) as Api).cycles.map((cycle) => [...cycle.locks].sort()))
    .toEqual([[...locks].sort()]);

  await ui.open('/waits');
  await ui.isLive();
  await expect(page.getByTestId('lead')).toContainText('1 deadlock');
  const card = page.getByTestId('cycle');
  await expect(card).toHaveCount(1);
  for (const text of [...locks, 'anna', 'bert']) await expect(card).toContainText(text);
  await expect(card).toContainText('One session may serve many threads');
  await expect(card.getByRole('link', { name: /^0x/ })).toHaveAttribute('href', /^\/session\?id=0x/);
  const boxes = page.getByTestId('graph').locator('.graph-box');
  await expect(boxes).toHaveCount(2);
  for (const box of await boxes.all()) await expect(box).toHaveAttribute('data-cycle', 'true');
  const rows = page.getByTestId('waits').locator('tbody tr');
  await expect(rows).toHaveCount(2);
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
  for (const lock of locks) await expect(page.getByTestId('cycle')).toContainText(lock);
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

test('where nobody waits the page says what was looked at', async ({ ui, clients, lockscope, place, page }) => {
  const client = await clients.open('lonely');
  const held = await client.hold(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node]);
  await expect.poll(async () => ((await (await fetch(`${lockscope.url}/api/v1/waits`)).json()) as Api).edges.length).toBe(0);

  await ui.open('/waits');
  await expect(page.getByTestId('lead')).toContainText(/^Nobody waits for anybody in [1-9]\d* locks?\.$/);
  await expect(page.getByTestId('graph')).toHaveCount(0);
});
