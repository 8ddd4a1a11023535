// The board while things happen: rows come, holders change and dead clients give way, all without a reload.

import { expect, test } from '../../support/fixtures.ts';

test('a row appears when a client comes', async ({ ui, clients, place }) => {
  const path = `${place}/orders`;
  await ui.openBoard({ q: place });
  await expect(ui.locks).toHaveCount(0);
  await ui.mark();

  const [first, second] = await clients.openAll('first', 'second');
  const held = await first!.hold(path);
  await expect(ui.cell(path, 'holder')).toContainText(held.session);
  await second!.queue(path);
  await expect(ui.cell(path, 'sentence')).toContainText('first holds it. 1 waits.');
  await expect(ui.cell(path, 'waiters')).toHaveText(/^\s*1\b/);
  await ui.isSameDocument();
});

test('the holder changes when it lets go', async ({ ui, clients, place }) => {
  const path = `${place}/orders`;
  const [first, second] = await clients.openAll('first', 'second');
  const held = await first!.hold(path);
  const next = await second!.queue(path);
  await ui.openBoard({ q: place });
  await expect(ui.cell(path, 'holder')).toContainText(held.session);
  await ui.mark();

  await first!.release();
  await second!.held();
  await expect(ui.cell(path, 'holder')).toContainText(next.session);
  await expect(ui.cell(path, 'sentence')).toContainText('second holds it. Nobody waits.');
  await second!.release();
  await expect(ui.cell(path, 'sentence')).toContainText('Free. Last held by second.');
  await expect(ui.cell(path, 'verdict')).toContainText(/free/i);
  await ui.isSameDocument();
});

test('a client that dies without a word loses its lock at its time-out', async ({ ui, clients, place }) => {
  const path = `${place}/orders`;
  const mortal = await clients.openMortal('mortal', { timeoutMs: 6_000 });
  const heir = await clients.open('heir');
  const held = await mortal.hold(path);
  const next = await heir.queue(path);
  await ui.openBoard({ q: place });
  await expect(ui.cell(path, 'holder')).toContainText(held.session);

  await mortal.die();
  await expect(ui.cell(path, 'holder')).toContainText(next.session);
  await heir.held();
});

test('ages tick by themselves', async ({ ui, clients, place }) => {
  const path = `${place}/orders`;
  const client = await clients.open('holder');
  await client.hold(path);
  await ui.openBoard({ q: place });
  const age = ui.cell(path, 'hold');
  await expect(age).toContainText(/\d/);
  const before = await age.textContent();
  await expect(age).not.toHaveText(before ?? '');
});

test('a lock page follows a link without a reload', async ({ ui, clients, place, page }) => {
  const path = `${place}/orders`;
  const client = await clients.open('holder');
  const held = await client.hold(path);
  await ui.openBoard({ q: place });
  await ui.mark();
  await ui.lock(path).getByRole('link').first().click();
  await ui.openTable();
  await expect(ui.contender(held.node)).toBeVisible();
  await page.goBack();
  await expect(ui.lock(path)).toBeVisible();
  await expect(page).toHaveURL((url) => url.searchParams.get('q') === place);
  await ui.isSameDocument();
});
