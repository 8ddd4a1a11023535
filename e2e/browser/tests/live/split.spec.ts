// Code that is fetched when it is wanted: where it can't be had, the page says so and offers to load again.

import { expect, test } from '../../support/fixtures.ts';

test('a page whose code is missing says so, and comes when it is there', async ({ page, ui, problems }) => {
  problems.expectOutage();
  const pages = /\/pkg\/split_pages\./;
  await page.route(pages, (route) => route.abort());
  await page.goto('/');
  await ui.hydrated();
  await page.getByRole('link', { name: 'Waits', exact: true }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'could not be loaded' })).toBeVisible();
  await page.unroute(pages);
  await page.getByRole('button', { name: 'Load again' }).click();
  await ui.hydrated();
  await expect(page).toHaveURL(/\/waits$/);
  await expect(page.locator('h1')).toBeVisible();
});

test('a document asks for the code that its page is drawn with, and no other', async ({ request }) => {
  const split = /rel="preload"[^>]*href="\/pkg\/split_pages\./;
  expect(await (await request.get('/waits')).text()).toMatch(split);
  expect(await (await request.get('/')).text()).not.toMatch(split);
  expect(await (await request.get('/')).text()).toMatch(/rel="preload"[^>]*href="\/pkg\/app\./);
});
