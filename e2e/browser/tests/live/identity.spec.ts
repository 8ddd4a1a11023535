// Who holds it, is it alive, and when will it go: a holder is killed, its end is counted down, and the lock passes on.

import { expect, test } from '../../support/fixtures.ts';

/** Longer than two rounds of questions, so that the dead one is seen before its session runs out. */
const TIMEOUT_MS = 24_000;

test('a killed holder is counted down and gives way', async ({ ui, page, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const mortal = await clients.openMortal('mortal', { timeoutMs: TIMEOUT_MS });
  const heir = await clients.open('heir');
  const places = [await mortal.hold(path), await heir.queue(path)];
  await lockscope.knows(path, places.map(({ node }) => node));
  await ui.openLock(path);
  await ui.mark();

  const dossier = page.getByTestId('dossier').first();
  await expect(dossier).toHaveAttribute('data-liveness', 'connected');
  await expect(dossier).toContainText(/127\.0\.0\.1:\d+/);
  await expect(dossier).toContainText('24.0 s');
  await expect(page.getByTestId('trust')).toContainText('1 of 1 servers');

  await mortal.die();
  await expect(dossier).toHaveAttribute('data-liveness', 'disconnected');
  await expect(page.getByTestId('verdict')).toHaveAttribute('data-verdict', 'expiring');
  const countdown = dossier.locator('[data-until]');
  // Looked at in one step: it goes with the holder, and before that is overdue for a moment.
  const seconds = () =>
    countdown.evaluateAll(([shown]) => {
      const [, minutes, rest] = /(\d+):(\d+)/.exec(shown?.textContent ?? '') ?? [];
      return minutes && rest ? Number(minutes) * 60 + Number(rest) : -1;
    });
  const first = await seconds();
  expect(first).toBeLessThanOrEqual(TIMEOUT_MS / 1000 + 1);
  await expect.poll(seconds, { message: 'it ticks' }).toBeLessThan(Math.max(first, 0));

  await heir.held(90_000);
  await ui.showsQueue([places[1]!]);
  await expect(page.getByTestId('verdict')).toHaveAttribute('data-verdict', 'healthy');
  await expect(dossier).toHaveAttribute('data-liveness', 'connected');
  await ui.isSameDocument();
});

test('waits of real clients are confirmed', async ({ ui, page, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [a, b] = await clients.openAll('a', 'b');
  const places = [await a!.hold(path), await b!.queue(path)];
  await lockscope.knows(path, places.map(({ node }) => node));
  await ui.openLock(path);
  await expect(page.locator('.chain .edge[data-evidence=confirmed]')).toHaveCount(1);
  await expect(page.getByTestId('herd')).toContainText('Releasing it wakes 1 client (counted)');
});
