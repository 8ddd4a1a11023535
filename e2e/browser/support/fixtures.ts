// What every spec starts from: a ZooKeeper and a server a worker, clients and a place for locks a test, and the
// assertion that the page had no problem.

import { test as base } from '@playwright/test';

import { type Client, Clients } from './clients.ts';
import { Lockscope, type MadeUp } from './lockscope.ts';
import { Page } from './page.ts';
import { Problems } from './problems.ts';
import { ZooKeeper } from './zookeeper.ts';

type ForTest = {
  clients: Clients;
  /** Starts a page over made-up locks of this test's own; gone after it. */
  madeUp: (mode: MadeUp, turnMs?: number) => Promise<Lockscope>;
  /** A path of this test's own; gone after it. */
  place: string;
  problems: Problems;
  ui: Page;
};
type ForWorker = {
  zookeeper: ZooKeeper;
  lockscope: Lockscope;
  caretaker: Client;
};

let places = 0;

export const test = base.extend<ForTest, ForWorker>({
  zookeeper: [
    async ({}, use) => {
      const zookeeper = await ZooKeeper.start();
      await use(zookeeper);
      await zookeeper.remove();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  lockscope: [
    async ({ zookeeper }, use) => {
      const lockscope = await Lockscope.serve(zookeeper.hosts);
      await use(lockscope);
      await lockscope.stop();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  caretaker: [
    async ({ zookeeper }, use) => {
      const clients = new Clients(zookeeper.hosts);
      await use(await clients.open('caretaker'));
      await clients.stop();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  baseURL: async ({ lockscope }, use) => use(lockscope.url),
  clients: async ({ zookeeper, place }, use) => {
    // Only so that they end before the place does: one that wakes would stand in it anew.
    void place;
    const clients = new Clients(zookeeper.hosts);
    await use(clients);
    await clients.stop();
  },
  madeUp: async ({ context, problems }, use) => {
    // Only so that the problems are counted after the servers are gone.
    void problems;
    const started: Lockscope[] = [];
    await use(async (mode, turnMs) => {
      const server = await Lockscope.madeUp(mode, turnMs);
      started.push(server);
      return server;
    });
    // First whoever looks at one: a page whose server goes away complains, and rightly.
    await Promise.all(context.pages().map((page) => page.close()));
    await Promise.all(started.map((server) => server.kill()));
  },
  place: async ({ caretaker }, use, info) => {
    const place = `/place-${info.parallelIndex}-${info.workerIndex}-${++places}`;
    await use(place);
    await caretaker.delete(place);
  },
  problems: [
    async ({ context, lockscope }, use, info) => {
      const problems = new Problems();
      await problems.watch(context);
      await use(problems);
      if (info.status !== 'passed') await info.attach('server log', { body: lockscope.log });
      problems.assertNone();
    },
    { auto: true },
  ],
  ui: async ({ page, javaScriptEnabled, problems }, use) => {
    // Only so that the problems are watched for before the page is used.
    void problems;
    await use(new Page(page, javaScriptEnabled !== false));
  },
});

/** The same with a server over made-up locks instead of a real one. */
export const overMadeUp = test.extend<object, { lockscope: Lockscope }>({
  lockscope: [
    async ({}, use) => {
      const server = await Lockscope.madeUp('live');
      await use(server);
      // Nobody drains it: it ends at once.
      await server.kill();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
});

export { expect } from '@playwright/test';
