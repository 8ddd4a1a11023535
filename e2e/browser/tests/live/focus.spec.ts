// What has the focus keeps it, and stays what it was, when something newer comes before it.

import { expect, test } from '../../support/fixtures.ts';

test('a past holder is still the one that was chosen when a newer one comes', async ({ ui, clients, place, page, problems }) => {
  problems.expectNotFound();
  const path = `${place}/orders`;
  const [a, b] = await clients.openAll('a', 'b');
  await ui.openLock(path);
  const first = await a!.hold(path);
  await expect(page.getByRole('main')).toContainText(first.session);
  await a!.release();
  const past = page.locator('.past-sides').getByRole('link');
  await past.filter({ hasText: first.session }).focus();

  const second = await b!.hold(path);
  await expect(page.getByRole('main')).toContainText(second.session);
  await b!.release();
  await expect(past).toHaveText([second.session, first.session]);
  await expect(past.filter({ hasText: first.session })).toBeFocused();
});

test('an event of a session is still the one that was chosen when newer ones come', async ({ ui, clients, lockscope, place, page }) => {
  const a = await clients.open('a');
  const held = await a.hold(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node]);
  await ui.open(`/session?id=${held.session}`);
  const links = page.getByTestId('history').getByRole('link');
  await links.last().focus();

  await a.release();
  await a.hold(`${place}/payments`);
  await expect(links.first()).toHaveText(`${place}/payments`);
  await expect(links.last()).toBeFocused();
  await expect(links.last()).toHaveText(`${place}/orders`);
});

test('a wait is still the one that was chosen when an older one ends', async ({ ui, clients, lockscope, place, page }) => {
  const [holder, early, late] = await clients.openAll('holder', 'early', 'late');
  const places = [await holder!.hold(`${place}/orders`), await early!.queue(`${place}/orders`), await late!.queue(`${place}/orders`)];
  await lockscope.knows(`${place}/orders`, places.map(({ node }) => node));
  await ui.open('/waits');
  await page.getByText('Who waits for whom, longest first').click();
  const rows = page.getByTestId('waits').locator('tbody tr');
  await expect(rows.first()).toContainText('early');
  const chosen = rows.last().getByRole('link', { name: 'late' });
  await chosen.focus();

  await early!.close();
  await expect(rows.filter({ hasText: 'early' })).toHaveCount(0);
  await expect(chosen).toBeFocused();
});
