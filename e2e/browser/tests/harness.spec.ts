// The harness by itself, without a page: a ZooKeeper that survives being killed, and clients that really queue.

import { expect, test } from '@playwright/test';

import { Clients } from '../support/clients.ts';
import { freePort } from '../support/port.ts';
import { ZooKeeper } from '../support/zookeeper.ts';

test('a killed ZooKeeper keeps its data, and may be changed in between', async () => {
  const zookeeper = await ZooKeeper.start();
  const clients = new Clients(zookeeper.hosts);
  try {
    const client = await clients.open('writer');
    await client.create('/kept', { data: 'x' });
    await zookeeper.kill();
    expect(zookeeper.isRunning).toBe(false);
    const port = await freePort();
    await zookeeper.start(port);
    const other = await clients.open('other', { hosts: `127.0.0.1:${port}` });
    await other.create('/kept/added');
    await zookeeper.kill();
    await zookeeper.start();
    expect(await client.children('/kept')).toMatchObject([{ node: 'added' }]);
  } finally {
    await clients.stop();
    await zookeeper.remove();
  }
});

test('kazoo clients hold, queue, release and die', async () => {
  const zookeeper = await ZooKeeper.start();
  const clients = new Clients(zookeeper.hosts);
  try {
    const [first, third] = await clients.openAll('first', 'third');
    const second = await clients.openMortal('second', { timeoutMs: 6_000 });
    const held = await first!.hold('/lock');
    const next = await second.queue('/lock');
    const last = await third!.queue('/lock');
    expect(await third!.children('/lock')).toEqual([held, next, last]);
    await first!.release();
    await second.held();
    await second.die();
    await third!.held();
    expect(await third!.children('/lock')).toEqual([last]);
    const nodes = await first!.crowd('/crowd', 300);
    expect((await first!.children('/crowd')).map(({ node }) => node)).toEqual(nodes);
  } finally {
    await clients.stop();
    await zookeeper.remove();
  }
});
