// Pages that the server draws alone: their times are local, and their link line tells when the server is gone.

import { expect, test } from '../../support/fixtures.ts';
import { signIn } from '../../support/sign-in.ts';

test('times of the audit log are local, and UTC by the switch of all pages', async ({ browser, lockscope }) => {
  const context = await browser.newContext({ timezoneId: 'Asia/Kolkata' });
  const page = await context.newPage();
  await signIn(page, lockscope, 'auditor');
  await page.goto(`${lockscope.url}/audit`);
  const when = page.getByTestId('audit').locator('time').first();
  const utc = (await when.getAttribute('title'))!;
  expect(utc).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  const local = new Date(Date.parse(utc.replace(' UTC', 'Z').replace(' ', 'T')) + 330 * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  await expect(when).toHaveText(local);
  const zone = page.getByTestId('zone');
  await expect(zone).toContainText(/Asia\/(Kolkata|Calcutta)/);
  await zone.click();
  await expect(when).toHaveText(utc);
  await expect(zone).toHaveAttribute('aria-label', 'Times are in UTC. Switch to local time');
  await page.goto(`${lockscope.url}/status`);
  await expect(zone, 'the live pages know it').toContainText('UTC');
  await page.goto(`${lockscope.url}/audit`);
  await expect(when).toHaveText(utc);
  await context.close();
  const without = await browser.newContext({ javaScriptEnabled: false });
  const plain = await without.newPage();
  await plain.goto(`${lockscope.url}/help`);
  await expect(plain.getByTestId('link-banner')).toContainText('Scripts are off: this is a snapshot.');
  await without.close();
});

test('a server that is gone is told, and that it is back', async ({ page, problems, madeUp }) => {
  problems.expectOutage();
  const own = await madeUp('live');
  for (const address of ['/help', '/lab', '/find?q=order']) {
    await page.goto(`${own.url}${address}`);
    const banner = page.getByTestId('link-banner');
    await expect(banner).toHaveAttribute('data-state', 'live');
    await expect(banner.locator('.banner-word')).toHaveText('CONNECTED');
  }
  const banner = page.getByTestId('link-banner');
  own.stand();
  await expect(banner).toHaveAttribute('data-state', 'offline', { timeout: 15_000 });
  await expect(banner.locator('.banner-word')).toHaveText('OFFLINE');
  await expect(banner.locator('.banner-why')).toHaveText('connection to Lockscope lost; trying again');
  own.go();
  await expect(banner).toHaveAttribute('data-state', 'live', { timeout: 15_000 });
  await expect(banner.locator('.banner-word')).toHaveText('CONNECTED');
  await expect(banner.locator('.banner-why')).toHaveText('to Lockscope');
});
