// Pins and views of somebody who is signed in are the server's: the same in each browser, and nobody else's.

import type { BrowserContext } from '@playwright/test';

import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';
import { signIn } from '../../support/sign-in.ts';

test('what a browser kept goes with whoever signs in, and no page loses what another adds', async ({ zookeeper, browser, clients, lockscope: first, place, ui, page, problems }) => {
  // A page that is slower is told 409, and makes its change again.
  problems.expect(/status of 409/);
  const held = await (await clients.open('a')).hold(`${place}/a`);
  await first.knows(`${place}/a`, [held.node]);
  const lockscope = await Lockscope.serve(zookeeper.hosts);
  const others: BrowserContext[] = [];
  try {
    const views = page.getByTestId('views');
    const save = async (of: typeof views, name: string) => {
      await of.getByLabel('Name of the view').fill(name);
      await of.getByRole('button', { name: 'Save' }).click();
      await expect(of.getByRole('link', { name, exact: true })).toBeVisible();
    };
    await ui.open(`${lockscope.url}/?q=${place}`);
    await ui.isLive();
    await ui.lock(`${place}/a`).hover();
    await ui.lock(`${place}/a`).getByRole('button', { name: 'Pin on top' }).click();
    await views.getByText('Views').click();
    await save(views, 'mine');
    await expect(views).toContainText('Kept in this browser.');

    const token = lockscope.token('viewer');
    const kept = async (): Promise<{ pins: string[]; views: { name: string; query: string }[] }> =>
      (await fetch(`${lockscope.url}/api/v1/preferences`, { headers: { authorization: `Bearer ${token}` } })).json();
    const names = async () => (await kept()).views.map(({ name }) => name);
    await signIn(page, lockscope, 'viewer', token);
    await expect.poll(names).toEqual(['mine']);
    expect((await kept()).pins).toEqual([`${place}/a`]);
    await views.getByText('Views').click();
    await expect(views).toContainText('Kept for you, in every browser.');
    expect(await page.evaluate(() => localStorage.getItem('lockscope.views'))).toBe('');

    const other = await browser.newContext();
    others.push(other);
    const second = await other.newPage();
    await signIn(second, lockscope, 'viewer', token);
    await second.goto(`${lockscope.url}/`);
    await expect(second).toHaveURL((url) => url.searchParams.get('pin') === `${place}/a`);
    const theirs = second.getByTestId('views');
    await theirs.getByText('Views').click();
    await expect(theirs.getByRole('link', { name: 'mine', exact: true })).toBeVisible();
    await save(theirs, 'second');
    await expect.poll(names).toEqual(['mine', 'second']);
    await save(views, 'third');
    await expect.poll(names).toEqual(['mine', 'second', 'third']);
    await expect(views.getByRole('link', { name: 'second', exact: true })).toBeVisible();
    await theirs.getByRole('button', { name: 'Forget mine' }).click();
    await expect.poll(names).toEqual(['second', 'third']);

    const stranger = await browser.newContext();
    others.push(stranger);
    const third = await stranger.newPage();
    await signIn(third, lockscope, 'viewer');
    await third.goto(`${lockscope.url}/`);
    await third.getByTestId('views').getByText('Views').click();
    await expect(third.getByTestId('views')).toContainText('Kept for you');
    await expect(third.getByTestId('views').getByRole('link')).toHaveCount(0);
  } finally {
    await Promise.all([...others.map((other) => other.close()), page.close()]);
    await lockscope.stop();
  }
});

test('what is shown can be taken along as a table', async ({ ui, page, clients, lockscope, place }) => {
  const held = await (await clients.open('=1+1')).hold(`${place}/a`);
  await lockscope.knows(`${place}/a`, [held.node]);
  await ui.openBoard({ q: place, sort: 'path', pin: `${place}/a` });
  const link = page.getByTestId('export').getByRole('link', { name: 'CSV', includeHidden: true });
  const address = (await link.getAttribute('href'))!;
  const text = await (await fetch(`${lockscope.url}${address}`)).text();
  const [head, row] = text.split('\r\n');
  expect(head).toMatch(/^ensemble,path,/);
  expect(row).toContain(`${place}/a`);
  expect(text.split('\r\n')).toHaveLength(3);
  expect(row).not.toMatch(/,=1\+1/);
});
