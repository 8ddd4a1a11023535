// Beside a long queue: all of it as a strip that scrolls the list, the dead in line, and the place of one's own application.

import { expect, test } from '../../support/fixtures.ts';

test.skip(({ javaScriptEnabled }) => !javaScriptEnabled, 'the map needs scripts; the list does not');

test('a queue of 10,000 has a map that leads to any place of it', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('crowd');
  await ui.open(`${url}/lock?path=/order`);
  const map = page.getByTestId('queue-map');
  const strip = map.getByRole('slider', { name: 'Place in the queue' });
  await expect(strip).toHaveAttribute('aria-valuemax', '10001');
  await expect(map.locator('path[data-liveness=disconnected]')).toHaveAttribute('d', /^M\d/);
  await expect(map.locator('path[data-liveness=unknown]')).toHaveCount(1);
  await expect(map).toContainText(/Liveness unknown: 2.500/);

  // A click on its middle.
  const row = (place: RegExp) => page.locator('.queue-place', { hasText: place }).first();
  await strip.click();
  await expect(row(/^49[5-9]\d$|^50[0-4]\d$/)).toBeVisible();
  await expect(strip).toHaveAttribute('aria-valuetext', /rows 4.9\d\d to [45].\d{3} of 10.001/);

  // The keyboard.
  await strip.focus();
  await page.keyboard.press('End');
  await expect(row(/^10000$/)).toBeInViewport();
  await page.keyboard.press('Home');
  await expect(row(/^1$/)).toBeInViewport();

  await map.getByTestId('dead-in-line').click();
  await expect(map.getByTestId('dead-in-line')).toContainText(/Dead in line: 2.500/);
});

test('an application is told its place and when its turn may come, and it is remembered', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('crowd');
  await ui.open(`${url}/lock?path=/order`);
  const map = page.getByTestId('queue-map');
  await map.getByLabel("Your app's place").fill('worker');
  await map.getByRole('button', { name: 'Show' }).click();
  const place = page.getByTestId('app-place');
  await expect(place).toHaveText(/^#1, at [\d.]+ hand-overs\/s ≈ 1 s \(by the last \d+ hand-overs\)$/);
  await expect(page).toHaveURL(/\/lock\?path=\/order&app=worker$/);

  await ui.open(`${url}/lock?path=/order`);
  await expect(place).toHaveText(/^#1, at/);
  await ui.open(`${url}/lock?path=/order&app=nobody`);
  await expect(place).toHaveText('No waiter of nobody.');
});

test('a short queue has no map', async ({ ui, page, madeUp }) => {
  const { url } = await madeUp('live');
  await ui.open(`${url}/lock?path=/app/stuck`);
  await expect(page.locator('#contenders')).toHaveCount(1);
  await ui.isLive();
  await expect(page.getByTestId('queue-map')).toHaveCount(0);
});
