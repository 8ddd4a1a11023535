// A sign-in that ends while a release is being typed: nothing is sent, nothing looks like a lost link, and whoever signs
// in again finds what was typed.

import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';
import { signIn } from '../../support/sign-in.ts';

test('a sign-in that ends under the dialog says so, and the reason is kept', async ({ zookeeper, clients, place, ui, page, context, problems }) => {
  problems.expectOutage();
  const path = `${place}/orders`;
  const [holder] = await clients.openAll('holder');
  const { node } = await holder!.hold(path);
  const lockscope = await Lockscope.serve(zookeeper.hosts);
  try {
    await lockscope.knows(path, [node]);
    await signIn(page, lockscope, 'operator');
    await ui.open(`${lockscope.url}/lock?path=${encodeURIComponent(path)}`);
    await ui.isLive();
    await page.evaluate(() => {
      const words: string[] = [];
      Object.assign(window, { words });
      const banner = document.querySelector('.banner-word')!;
      new MutationObserver(() => words.push(banner.textContent)).observe(banner, { childList: true, characterData: true, subtree: true });
    });
    await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();
    const dialog = page.getByTestId('release');
    await dialog.getByLabel(/type the lock/i).fill(path);
    await dialog.getByLabel(/reason/i).fill('hangs since noon');
    let sent = 0;
    page.on('request', (request) => (sent += Number(/release\/execute/.test(request.url()))));

    const other = await context.newPage();
    await other.goto(`${lockscope.url}/status`);
    await other.getByRole('button', { name: 'Sign out' }).click();

    await expect(dialog).toContainText(/Your sign-in ended at \d\d:\d\d:\d\d/);
    await expect(dialog).toContainText('Nothing was sent.');
    await expect(page.getByTestId('release-go')).toHaveCount(0);
    await expect(page.getByTestId('visitor')).toHaveCount(0);
    await expect(page.locator('header').getByRole('link', { name: 'Sign in' })).toHaveCount(1);
    await expect(page.locator('header').getByRole('link', { name: 'Audit' })).toHaveCount(0);
    await ui.isLive();
    expect(await page.evaluate(() => (window as unknown as { words: string[] }).words.join(' '))).not.toContain('OFFLINE');
    expect(sent).toBe(0);

    await dialog.getByRole('link', { name: 'Sign in and come back' }).click();
    await page.getByLabel('Or a token').fill(lockscope.token('operator'));
    await page.getByRole('button', { name: 'Sign in with the token' }).click();
    await expect(page).toHaveURL(/\/lock\?path=/);
    await expect(dialog.getByLabel(/reason/i)).toHaveValue('hangs since noon');
    await expect(dialog.getByLabel(/type the lock/i)).toHaveValue('');
    await expect(page.getByTestId('release-go')).toBeDisabled();
    await page.keyboard.press('Escape');
    await page.reload();
    await ui.isLive();
    await expect(dialog, 'it comes back once').toBeHidden();
  } finally {
    await Promise.all(context.pages().map((open) => open.close()));
    await lockscope.stop();
  }
});
