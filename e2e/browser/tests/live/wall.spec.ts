// A screen on the wall: its token leaves the address bar at once, and it comes back by itself when the server does.

import type { BrowserContext } from '@playwright/test';

import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';

test('a wall signs in by its address, and again when the server was restarted', async ({ zookeeper, browser }) => {
  // Of its own: what it says while the server is gone is no problem.
  const screen: BrowserContext = await browser.newContext();
  const options = { file: 'anonymous = "none"\n' };
  let lockscope = await Lockscope.serve(zookeeper.hosts, options);
  try {
    const token = lockscope.token('viewer');
    const wall = await screen.newPage();
    const asked: string[] = [];
    wall.on('request', (request) => asked.push(request.url()));
    await wall.goto(`${lockscope.url}/wall#token=${token}`);
    await expect(wall.getByTestId('wall')).toHaveAttribute('data-mood', /good|old|warn|bad|odd/);
    await expect(wall).toHaveURL(`${lockscope.url}/wall`);
    await expect(wall.getByText(/as of/)).toBeVisible();
    expect(asked.filter((url) => url.includes('lks_'))).toEqual([]);
    expect(lockscope.log).not.toContain(token);

    lockscope = await lockscope.restart();
    await expect(async () => {
      const names = (await screen.cookies()).map(({ name }) => name);
      expect(names.length).toBeGreaterThan(0);
      const me = await screen.request.get(`${lockscope.url}/api/v1/me`);
      expect(((await me.json()) as { by: string }).by).toBe('token');
    }).toPass({ timeout: 60_000 });
    await expect(wall).toHaveURL(`${lockscope.url}/wall`);
    await expect(wall.getByTestId('wall')).toHaveAttribute('data-mood', /good|warn|bad|odd/, { timeout: 30_000 });
  } finally {
    await screen.close();
    await lockscope.stop();
  }
});

test('a wall takes no token that may do more than look', async ({ zookeeper, browser }) => {
  const screen: BrowserContext = await browser.newContext();
  const lockscope = await Lockscope.serve(zookeeper.hosts);
  try {
    const wall = await screen.newPage();
    await wall.goto(`${lockscope.url}/wall#token=${lockscope.token('operator')}`);
    await expect(wall.getByRole('alert')).toContainText('This token may do more than look');
    await expect(wall).toHaveURL(`${lockscope.url}/sign-in/wall`);
    expect(await wall.evaluate(() => sessionStorage.getItem('lockscope.wall'))).toBeNull();
    // It is not tried again.
    await wall.reload();
    await expect(wall.getByLabel('Token')).toHaveValue('');
  } finally {
    await screen.close();
    await lockscope.stop();
  }
});
