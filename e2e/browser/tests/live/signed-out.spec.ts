// A sign-in that ended is told as such, not as a lost link, and the way back leads to the same page.

import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';
import { signIn } from '../../support/sign-in.ts';

test('whose sign-in ended is told so, and comes back to the same page', async ({ zookeeper, ui, page, context, problems }) => {
  problems.expectOutage();
  problems.expect(/status of 401|WebSocket connection/);
  const lockscope = await Lockscope.serve(zookeeper.hosts, { file: 'anonymous = "none"\n' });
  try {
    await signIn(page, lockscope, 'viewer');
    await ui.open(`${lockscope.url}/sessions?q=none`);
    await ui.isLive();
    const other = await context.newPage();
    await other.goto(`${lockscope.url}/status`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await expect(other).toHaveURL(/sign-in/);
    await expect(ui.banner).toContainText('SIGNED OUT');
    await expect(page).toHaveTitle('SIGNED OUT · Sessions · Lockscope');
    const back = ui.banner.getByRole('link', { name: 'Sign in again' });
    await back.click();
    await expect(page.locator('input[name=next]').first()).toHaveValue('/sessions?q=none');
  } finally {
    await Promise.all(context.pages().map((open) => open.close()));
    await lockscope.stop();
  }
});
