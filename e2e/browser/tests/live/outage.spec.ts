// Servers that die: the page says so at once, and is exact again once they are back.

import { bannerSeen, recordBanner } from '../../support/banner.ts';
import { Clients } from '../../support/clients.ts';
import { expect, test as base } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';
import { freePort } from '../../support/port.ts';
import { ZooKeeper } from '../../support/zookeeper.ts';

const STALE_MS_MAX = 2_000;

// These tests kill what the others of a worker share, so they have their own.
const test = base.extend<{ ensemble: ZooKeeper; server: Lockscope }>({
  ensemble: async ({}, use) => {
    const ensemble = await ZooKeeper.start();
    await use(ensemble);
    await ensemble.remove();
  },
  server: async ({ ensemble, context }, use, info) => {
    const server = await Lockscope.serve(ensemble.hosts);
    await use(server);
    if (info.status !== 'passed') await info.attach('own server log', { body: server.log });
    // First whoever looks at it: a page whose server goes away complains, and rightly.
    await Promise.all(context.pages().map((page) => page.close()));
    await server.stop();
  },
  clients: async ({ ensemble }, use) => {
    const clients = new Clients(ensemble.hosts);
    await use(clients);
    await clients.stop();
  },
});

for (const [where, address] of [
  ['board', '/?q=/orders'],
  ['lock page', '/lock?path=/orders'],
  ['status page', '/status'],
] as const) {
  test(`the ${where} says STALE within two seconds of ZooKeeper's death, and is live again after its return`, async ({ ui, clients, ensemble, server }) => {
    const held = await (await clients.open('holder')).hold('/orders');
    await server.knows('/orders', [held.node]);
    await ui.open(`${server.url}${address}`);
    await ui.isLive();
    await recordBanner(ui);
    await ui.mark();
    const death = await ensemble.death();
    await ensemble.kill();
    const diedAtMs = await death.atMs;
    await expect(ui.banner).toHaveAttribute('data-state', /stale|lost/);
    await expect(ui.banner).toContainText(/stale|lost/i);
    const stale = (await bannerSeen(ui)).find(({ state }) => state === 'stale' || state === 'lost');
    expect(stale!.atMs - diedAtMs, 'ms from the death to STALE').toBeLessThanOrEqual(STALE_MS_MAX);
    await ensemble.start();
    await ui.isLive();
    await ui.isSameDocument();
  });
}

test('what changed while ZooKeeper was away is exact after its return', async ({ ui, clients, ensemble, server }) => {
  const path = '/orders';
  const [a, b, c] = await clients.openAll('a', 'b', 'c');
  const places = [await a!.hold(path), await b!.queue(path), await c!.queue(path)];
  await server.knows(path, places.map(({ node }) => node));
  await ui.open(`${server.url}/lock?path=${path}`);
  await ui.showsQueue(places);
  await ui.mark();

  await ensemble.kill();
  await expect(ui.banner).toHaveAttribute('data-state', /stale|lost/);
  // The old view stays, under a banner that says it is old.
  await ui.showsQueue(places);

  // Where nobody else finds it, the same data is changed: the holder goes, another comes.
  const port = await freePort();
  await ensemble.start(port);
  const admin = await clients.open('admin', { hosts: `127.0.0.1:${port},${ensemble.hosts}` });
  await admin.delete(`${path}/${places[0]!.node}`);
  const made = await admin.create(`${path}/${'a'.repeat(32)}__lock__`, { data: 'admin', ephemeral: true, sequence: true });
  await ensemble.kill();
  await ensemble.start();

  await ui.isLive();
  const added = { node: made.slice(made.lastIndexOf('/') + 1), session: admin.session };
  await ui.showsQueue([places[1]!, places[2]!, added]);
  await ui.showsQueue(await admin.children(path));
  await ui.isSameDocument();

  // And it goes on live from there.
  await b!.held();
  await b!.release();
  await ui.showsQueue([places[2]!, added]);
});

test('the page finds a restarted server by itself', async ({ ui, clients, ensemble, server, page, problems }) => {
  problems.expectOutage();
  const path = '/orders';
  const [a, b] = await clients.openAll('a', 'b');
  const places = [await a!.hold(path), await b!.queue(path)];
  // Its own, to be stopped in the middle of the test.
  const first = await Lockscope.serve(ensemble.hosts);
  await page.goto(`${first.url}/lock?path=${path}`);
  await ui.hydrated();
  await ui.showsQueue(places);
  await ui.isLive();
  await ui.mark();

  await first.stop();
  await expect(ui.banner).not.toHaveAttribute('data-state', 'live');
  await a!.release();
  await server.knows(path, [places[1]!.node]);
  const second = await Lockscope.serve(ensemble.hosts, { listen: first.address });
  try {
    await expect(ui.banner).toHaveAttribute('data-state', 'live');
    await ui.showsQueue([places[1]!]);
    await ui.isSameDocument();
    await b!.release();
    await ui.showsQueue([]);
  } finally {
    await second.stop();
  }
});

test('a server killed without warning is noticed', async ({ ui, ensemble, page, problems }) => {
  problems.expectOutage();
  const own = await Lockscope.serve(ensemble.hosts);
  await page.goto(`${own.url}/status`);
  await ui.hydrated();
  await ui.isLive();
  const summary = page.getByTestId('summary');
  await expect(summary).toContainText('1 root live');
  await own.kill();
  await expect(ui.banner).toHaveAttribute('data-state', /offline|stale|lost/);
  await expect(summary).toContainText('Not live. Last known: ');
});
