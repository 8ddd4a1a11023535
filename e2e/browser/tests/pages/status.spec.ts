// The status page: the link, the session, the roots, as the server itself tells them.

import { expect, test } from '../../support/fixtures.ts';

test('the status page tells of link and roots', async ({ ui, page, lockscope, zookeeper }) => {
  await ui.open('/status');
  const status = (await (await fetch(`${lockscope.url}/api/v1/status`)).json()) as { ensembles: { session_id: string }[] };
  const body = page.locator('body');
  await ui.isLive();
  await expect(body).toContainText(zookeeper.hosts);
  await expect(body).toContainText(status.ensembles[0]!.session_id);
  await expect(body).toContainText(/live/i);
  await expect(page.getByTestId('summary')).toContainText(/^(All well: )?1 root live, /);
});

test('one gets from page to page', async ({ ui, page }) => {
  await ui.openBoard();
  await ui.isLive();
  await page.getByRole('link', { name: /status/i }).first().click();
  await expect(page).toHaveURL(/\/status$/);
  await page.getByRole('link', { name: /lockscope|board/i }).first().click();
  await expect(page).toHaveURL((url) => url.pathname === '/');
});
