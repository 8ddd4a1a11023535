// The page of a lock at a server that does not watch it: live, released from there, and what it says when the server is
// killed that watches it. With a PostgreSQL that all share also as it was, from whoever watches it.

import { bannerSeen, recordBanner } from '../../support/banner.ts';
import { Cluster } from '../../support/cluster.ts';
import { expect, test as base } from '../../support/fixtures.ts';
import { Postgres } from '../../support/postgres.ts';
import { signIn } from '../../support/sign-in.ts';

/** From the death of an owner to the page's word for it. */
const TOLD_MS_MAX = 2_000;

const test = base.extend<{ cluster: Cluster; recording: Cluster }>({
  cluster: async ({ zookeeper, place, context }, use) => {
    const cluster = await Cluster.start(zookeeper.hosts, `${place}-cluster`);
    await use(cluster);
    await Promise.all(context.pages().map((page) => page.close()));
    await cluster.stop();
  },
  recording: async ({ zookeeper, place, context }, use) => {
    const postgres = await Postgres.start();
    try {
      const cluster = await Cluster.start(zookeeper.hosts, `${place}-recording`, postgres.url);
      await use(cluster);
      await Promise.all(context.pages().map((page) => page.close()));
      await cluster.stop();
    } finally {
      await postgres.remove();
    }
  },
});

test('a lock that another server watches is live, released, and moves on when that server is killed', async ({ ui, page, clients, cluster, place, problems }) => {
  const path = `${place}/orders`;
  const [stuck, next, third] = await clients.openAll('stuck', 'next', 'third');
  const places = [await stuck!.hold(path), await next!.queue(path)];
  await cluster.gateway.knows(path, places.map(({ node }) => node));
  const [first, second] = cluster.owners;
  await signIn(page, cluster.gateway, 'operator', cluster.token('operator'));
  await ui.open(`${cluster.gateway.url}/lock?path=${encodeURIComponent(path)}`);
  await ui.isLive();
  await ui.openTable();
  await ui.showsQueue(places);

  // From its dialog to the record: the owner does it.
  await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();
  const dialog = page.getByTestId('release');
  await expect(dialog).toContainText(places[0]!.session);
  await dialog.getByLabel(/type the lock/i).fill(path);
  await dialog.getByLabel(/reason/i).fill('hangs since noon');
  await page.getByTestId('release-go').click();
  const result = page.getByTestId('release-result');
  await expect(result).toHaveAttribute('data-outcome', 'released');
  await next!.held();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(dialog).toBeHidden();
  await ui.showsQueue([places[1]!]);

  // Killed, the owner is not there from one instant to the next; the page says so, and goes on with the other. What it asks for each ten seconds has no answer then.
  problems.expect(/status of 503 .*\/lock\/time-to-lock/);
  await recordBanner(ui);
  const killedAtMs = Date.now();
  await first!.kill();
  await expect.poll(async () => (await bannerSeen(ui)).some(({ state }) => state !== 'live'), { intervals: [20] }).toBe(true);
  const left = (await bannerSeen(ui)).find(({ state }) => state !== 'live');
  expect(left!.atMs - killedAtMs, 'ms until it is not live').toBeLessThanOrEqual(TOLD_MS_MAX);
  await ui.isLive();
  places.push(await third!.queue(path));
  await ui.showsQueue([places[1]!, places[2]!]);

  // With the other one gone as well it says what is missing, and nothing of it is called live.
  await second!.kill();
  await expect(ui.banner).not.toHaveAttribute('data-state', 'live', { timeout: TOLD_MS_MAX });
  await expect(page.locator('body')).toContainText(/can.t be reached|nobody watches/i);
  // Then this server watches it itself.
  await ui.isLive();
  await ui.showsQueue([places[1]!, places[2]!]);
});

test.describe('with a PostgreSQL that all of them share', () => {
  test.skip(Postgres.programs() === undefined, 'PostgreSQL is not installed');

  test('a lock that another server watches is shown as it was, by an owner, and by this server once it owns it', async ({ ui, page, browser, clients, recording, place }) => {
    const path = `${place}/orders`;
    const address = `${recording.gateway.url}/lock?ensemble=default&path=${encodeURIComponent(path)}`;
    const [anna, bert] = await clients.openAll('anna', 'bert');
    const [first, second] = [await anna!.hold(path), await bert!.queue(path)];
    await recording.gateway.knows(path, [first.node, second.node]);
    const held = Date.now();
    await anna!.release();
    await bert!.held();
    await recording.gateway.knows(path, [second.node]);
    const released = Date.now();
    const history = async (server = recording.gateway) =>
      (await (await fetch(`${server.url}/api/v1/history?ensemble=default`)).json()) as { store: string; to_at_ms: number | null };
    await expect.poll(async () => (await history()).to_at_ms ?? 0).toBeGreaterThan(released);
    expect(await history(), 'what an owner has').toMatchObject({ store: 'postgres' });

    // From the live page of a server that does not watch it, back into the past. The first moment takes a while to make.
    const past = async (at: string | number) => (await page.request.get(`${address}&at=${at}`)).status();
    for (const at of ['now', held]) await expect.poll(() => past(at)).toBe(200);
    await ui.open(address);
    await ui.isLive();
    await page.getByTestId('rewind').click();
    const band = page.getByTestId('past-band');
    await expect(band).toBeVisible();
    const asItWas = async () => {
      await page.goto(`${address}&at=${held}`);
      await expect(band).toHaveAttribute('data-at', `${held}`);
      await expect(page.locator('main')).toContainText('anna holds it. 1 waits.');
      await ui.openTable();
      await expect(ui.contender(first.node)).toBeVisible();
      await expect(ui.contender(second.node)).toBeVisible();
      await expect(page.locator('[data-release]')).toHaveCount(0);
    };
    await asItWas();
    // Every link stays at this server; the moment after it, and the same without scripts.
    for (const link of await page.locator('a[href]').evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).origin))) {
      expect(recording.owners.map(({ url }) => url)).not.toContain(link);
    }
    await page.keyboard.press('.');
    await expect(ui.contender(first.node)).toHaveCount(0);
    const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await plain.goto(`${address}&at=${held}`);
    await expect(plain.locator('main')).toContainText('anna holds it. 1 waits.');
    await plain.context().close();

    // The first owner is killed: the other one has the same past, as it is the same database.
    await recording.owners[0]!.kill();
    await expect.poll(() => past(held)).toBe(200);
    await asItWas();
    // With both gone this server watches it, and the past is still there.
    await recording.owners[1]!.kill();
    await expect.poll(() => past(held)).toBe(200);
    await asItWas();
    await page.keyboard.press('l');
    await expect(band).toHaveCount(0);
    await ui.isLive();
    await ui.showsQueue([second]);
  });
});
