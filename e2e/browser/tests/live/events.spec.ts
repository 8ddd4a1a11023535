// What happened, newest first: filters, the way to a moment, new rows that are counted and never pushed in, without scripts.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';

test('events are filtered, lead to their moment, and new ones wait until they are wanted', async ({ ui, clients, lockscope, place, page }) => {
  const path = `${place}/orders`;
  const [anna, bert] = await clients.openAll('anna', 'bert');
  const first = await anna!.hold(path);
  await lockscope.knows(path, [first.node]);

  await ui.openLock(path);
  await page.getByTestId('events-link').click();
  await expect(page).toHaveURL(new RegExp(`/events\\?.*path=`));
  const rows = page.getByTestId('events').locator('tbody tr');
  await expect(rows.filter({ hasText: 'joined' }).first()).toContainText(first.node);
  const before = await rows.count();
  for (const scheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await expectAccessible(page, `events, ${scheme}`);
  }

  // Nothing moves; a line says how much is new.
  const second = await bert!.queue(path);
  await lockscope.knows(path, [first.node, second.node]);
  const news = page.getByTestId('events-news');
  await expect(news).toContainText(/^\s*\d+ new: show\s*$/, { timeout: 15_000 });
  await expect(rows).toHaveCount(before);
  await news.getByRole('link').click();
  await expect(rows.filter({ hasText: second.node }).first()).toBeVisible();

  // Held back, nothing is counted.
  await page.getByTestId('events-pause').click();
  await expect(page.getByTestId('events-pause')).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('p');
  await expect(page.getByTestId('events-pause')).toHaveAttribute('aria-pressed', 'false');

  // By kind, and to the moment.
  await page.getByRole('combobox', { name: /^What/ }).selectOption('holder_changed');
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(rows).toHaveCount(1);
  const at = await rows.first().getAttribute('data-at');
  const newest = async () => ((await (await fetch(`${lockscope.url}/api/v1/history`)).json()) as { to_at_ms: number }).to_at_ms;
  await expect.poll(newest).toBeGreaterThan(Number(at));
  await rows.first().getByRole('link', { name: 'show then' }).click();
  await expect(page.getByTestId('past-band')).toHaveAttribute('data-at', at!);
  // From there the list is as of then.
  await page.getByRole('link', { name: 'Events', exact: true }).click();
  await expect(page.getByTestId('events-at')).toBeVisible();
  await expect(page.getByTestId('events-news')).toHaveCount(0);
  await page.getByRole('link', { name: 'Newest' }).click();
  await expect(page.getByTestId('events-at')).toHaveCount(0);
});

test('events are there without scripts, and on a phone', async ({ browser, clients, lockscope, place }) => {
  const path = `${place}/orders`;
  const [anna] = await clients.openAll('anna');
  const held = await anna!.hold(path);
  await lockscope.knows(path, [held.node]);
  for (const javaScriptEnabled of [false, true]) {
    const context = await browser.newContext({ baseURL: lockscope.url, javaScriptEnabled, viewport: { width: 390, height: 800 } });
    const page = await context.newPage();
    await page.goto('/events');
    await page.getByRole('textbox', { name: 'Lock' }).fill(path);
    await page.getByRole('button', { name: 'Show' }).click();
    await expect(page.getByTestId('events').locator('tbody tr').filter({ hasText: held.node }).first()).toBeVisible();
    await expect(page.getByTestId('events-pause')).toBeVisible({ visible: javaScriptEnabled });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    if (javaScriptEnabled) await expectAccessible(page, 'events on a phone');
    await context.close();
  }
});
