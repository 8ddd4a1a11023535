// Pages of others, in a real browser: they can neither read, nor act, nor open a live socket; nor can a name of theirs
// that was made to lead here.

import { createServer, type Server } from 'node:http';

import { chromium, type Browser, type Page } from '@playwright/test';

import { expect, test as base } from '../../support/fixtures.ts';

/** A name of somebody else, which the browser below resolves to this machine. */
const REBOUND = 'evil.example';

type Foreign = { browser: Browser; page: Page; address: string };

const test = base.extend<{ foreign: Foreign }>({
  foreign: async ({}, use, info) => {
    const server: Server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<title>foreign</title>'));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address();
    if (!address || typeof address === 'string') throw new Error('no address');
    const options = info.project.use.launchOptions ?? {};
    // Newer browsers keep such names from this machine by themselves; older ones and others do not.
    const trusting = '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights';
    const args = [...(options.args ?? []), `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`, trusting];
    const browser = await chromium.launch({ ...options, args });
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${address.port}/`);
    await use({ browser, page, address: `http://127.0.0.1:${address.port}` });
    await browser.close();
    server.close();
  },
});

/** What became of a live socket: the code of its end, or what it said first. */
async function openSocket(page: Page, url: string): Promise<string> {
  return page.evaluate(
    (url) =>
      new Promise<string>((done) => {
        const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/live`, 'lockscope.v1.json');
        socket.onmessage = (message) => done(JSON.parse(message.data).type);
        socket.onclose = (end) => done(`closed ${end.code}`);
      }),
    url,
  );
}

/** How many requests the server refused for where they came from. */
async function refused(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^lockscope_requests_guarded_total (\d+)$/m.exec(text)?.[1]);
}

test('a foreign page reads nothing, does nothing and opens no socket', async ({ foreign, lockscope }) => {
  expect(await openSocket(foreign.page, lockscope.url)).toBe('closed 1006');
  // By another name of this machine it is another site to the browser.
  const elsewhere = lockscope.url.replace('127.0.0.1', 'localhost');
  expect(await openSocket(foreign.page, elsewhere)).toBe('closed 1006');
  const before = await refused(lockscope.url);
  const tried = await foreign.page.evaluate(async (urls) => {
    const outcomes: string[] = [];
    for (const url of urls) {
      const requests: [string, RequestInit][] = [
        ['/api/v1/locks', {}],
        ['/api/v1/release/plan', { method: 'POST', mode: 'no-cors', body: '{"ensemble":"default","path":"/"}' }],
        ['/api/v1/release/plan', { method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams({ a: 'b' }) }],
        ['/api/v1/release/plan', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }],
      ];
      for (const [path, request] of requests) {
        outcomes.push(await fetch(url + path, request).then((answer) => answer.type, () => 'failed'));
      }
    }
    return outcomes;
  }, [lockscope.url, elsewhere]);
  expect(tried.filter((outcome) => outcome !== 'failed' && outcome !== 'opaque')).toEqual([]);
  // Each POST and preflight, and the read across sites.
  expect(await refused(lockscope.url)).toBeGreaterThanOrEqual(before + 7);
});

test('a foreign page can not frame the dashboard, and its links lead to it', async ({ foreign, lockscope }) => {
  const refused = foreign.page.waitForEvent('requestfailed', (request) => request.url() === `${lockscope.url}/`);
  await foreign.page.setContent(`<iframe src="${lockscope.url}/"></iframe><a href="${lockscope.url}/">there</a>`);
  expect((await refused).failure()?.errorText).toContain('ERR_BLOCKED_BY_RESPONSE');
  await foreign.page.getByText('there').click();
  await expect(foreign.page).toHaveTitle(/Lockscope/);
});

test('a name that was made to lead here is answered by nobody', async ({ foreign, lockscope }) => {
  const rebound = lockscope.url.replace('127.0.0.1', REBOUND);
  const answer = await foreign.page.goto(`${rebound}/`);
  expect(answer?.status()).toBe(421);
  expect(await answer?.text()).toContain('the setting `origin` names the addresses');
  // A page that its owner served before the name was turned: of the same origin as what it asks for now.
  await foreign.page.route('**/trap', (route) => route.fulfill({ contentType: 'text/html', body: '<title>trap</title>' }));
  await foreign.page.goto(`${rebound}/trap`);
  expect(await foreign.page.evaluate(async () => (await fetch('/api/v1/locks')).status)).toBe(421);
  expect(await openSocket(foreign.page, rebound)).toBe('closed 1006');
});

test('our own page opens its socket by every name of this machine', async ({ foreign, lockscope }) => {
  for (const name of ['127.0.0.1', 'localhost']) {
    const url = lockscope.url.replace('127.0.0.1', name);
    await foreign.page.goto(`${url}/`);
    expect(await openSocket(foreign.page, url)).toBe('hello');
  }
});
