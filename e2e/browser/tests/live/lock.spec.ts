// The lock page while its queue moves: always the order and the sessions that ZooKeeper itself has.

import { expect, test } from '../../support/fixtures.ts';

test('the queue follows its clients', async ({ ui, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [a, b, c, d] = await clients.openAll('a', 'b', 'c', 'd');
  const places = [await a!.hold(path), await b!.queue(path), await c!.queue(path)];
  await lockscope.knows(path, places.map(({ node }) => node));
  await ui.openLock(path);
  await ui.showsQueue(places);
  await ui.mark();

  places.push(await d!.queue(path));
  await ui.showsQueue(places);
  // One in the middle gives up: who stood behind it now waits for who stood before it.
  await c!.close();
  await ui.showsQueue([places[0]!, places[1]!, places[3]!]);
  await ui.waitsFor(places[3]!.node, places[1]!.node);
  await a!.release();
  await b!.held();
  await ui.showsQueue([places[1]!, places[3]!]);
  await expect(ui.chain).toContainText(/b[^]*d/);
  await ui.showsQueue(await a!.children(path));
  await ui.isSameDocument();
});

test('a dead holder gives way on its page', async ({ ui, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const mortal = await clients.openMortal('mortal', { timeoutMs: 6_000 });
  const heir = await clients.open('heir');
  const places = [await mortal.hold(path), await heir.queue(path)];
  await lockscope.knows(path, places.map(({ node }) => node));
  await ui.openLock(path);
  await ui.showsQueue(places);
  await mortal.die();
  await ui.showsQueue([places[1]!]);
  await heir.held();
});

test('a lock that comes later appears on its page', async ({ ui, clients, place, page, problems }) => {
  problems.expectNotFound();
  const path = `${place}/later`;
  await ui.openLock(path);
  await expect(page.locator('body')).toContainText(path);
  await ui.mark();
  const client = await clients.open('late');
  const held = await client.hold(path);
  await ui.showsQueue([held]);
  await ui.isSameDocument();
});

test('a storm of hand-overs ends in the truth', async ({ ui, clients, place, problems }) => {
  problems.expectNotFound();
  const path = `${place}/busy`;
  const all = await clients.openAll(...Array.from({ length: 6 }, (_, n) => `worker-${n}`));
  await ui.openLock(path);
  await Promise.all(
    all.map(async (client) => {
      for (let round = 0; round < 5; round++) {
        await client.hold(path);
        await client.release();
      }
    }),
  );
  const places = [await all[0]!.hold(path), await all[1]!.queue(path)];
  await ui.showsQueue(places);
});
