// The page of a lock at a server that does not watch it: live, released from there, and what it says when the server is
// killed that watches it.

import { bannerSeen, recordBanner } from '../../support/banner.ts';
import { Cluster } from '../../support/cluster.ts';
import { expect, test as base } from '../../support/fixtures.ts';
import { signIn } from '../../support/sign-in.ts';

/** From the death of an owner to the page's word for it. */
const TOLD_MS_MAX = 2_000;

const test = base.extend<{ cluster: Cluster }>({
  cluster: async ({ zookeeper, place, context }, use) => {
    const cluster = await Cluster.start(zookeeper.hosts, `${place}-cluster`);
    await use(cluster);
    await Promise.all(context.pages().map((page) => page.close()));
    await cluster.stop();
  },
});

test('a lock that another server watches is live, released, and moves on when that server is killed', async ({ ui, page, clients, cluster, place }) => {
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

  // Killed, the owner is not there from one instant to the next; the page says so, and goes on with the other.
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
