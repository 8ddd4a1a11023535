// The filter with JavaScript on: typing narrows the board and keeps the address in step.

import { expect, test } from '../../support/fixtures.ts';

test('typing filters and updates the address', async ({ ui, clients, place, page }) => {
  const [one, other] = await clients.openAll('one', 'other');
  await one!.hold(`${place}/apples`);
  await other!.hold(`${place}/pears`);
  await ui.openBoard({ q: place });
  await expect(ui.locks).toHaveCount(2);
  await ui.mark();

  await ui.filter.fill('');
  await ui.filter.pressSequentially(`${place}/pea`);
  await expect(ui.locks).toHaveCount(1);
  await expect(ui.lock(`${place}/pears`)).toBeVisible();
  await expect(page).toHaveURL((url) => url.searchParams.get('q') === `${place}/pea`);
  await expect(ui.filter).toHaveValue(`${place}/pea`);

  await ui.filter.fill(`${place} one`);
  await expect(ui.lock(`${place}/apples`)).toBeVisible();
  await expect(ui.lock(`${place}/pears`)).toHaveCount(0);
  await ui.isSameDocument();

  // The address is a deep link: the same board after a reload.
  await page.reload();
  await ui.hydrated();
  await expect(ui.filter).toHaveValue(`${place} one`);
  await expect(ui.lock(`${place}/apples`)).toBeVisible();
  await expect(ui.lock(`${place}/pears`)).toHaveCount(0);
});

test('a filtered board stays live', async ({ ui, clients, place }) => {
  await ui.openBoard({ q: `${place} wanted` });
  const [wanted, other] = await clients.openAll('wanted', 'other');
  await other!.hold(`${place}/a`);
  await wanted!.hold(`${place}/b`);
  await expect(ui.lock(`${place}/b`)).toBeVisible();
  await expect(ui.lock(`${place}/a`)).toHaveCount(0);
});
