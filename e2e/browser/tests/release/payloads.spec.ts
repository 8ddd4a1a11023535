// More than a thousand hostile texts in every place that shows what others wrote. Each page is compared with a twin that
// shows as many harmless ones: it may have no element and no attribute that its twin has not, and nothing runs.

import type { BrowserContext, Page as Browser } from '@playwright/test';

import type { Client } from '../../support/clients.ts';
import { expect, test } from '../../support/fixtures.ts';
import type { Lockscope } from '../../support/lockscope.ts';
import { CALLS, isName, type Payload, Payloads, survives } from '../../support/payloads.ts';

const SEED = 20_240_607;
const PAYLOADS_MIN = 1_000;
/** Locks a board, contenders a lock: they fit one window. */
const ROWS = 90;
const FOREIGN = 45;
/** Records a page of the audit. */
const REASON_ROWS = 100;
const REASON_PAGES = 3;
const FILTERS = 25;
const SIGN_INS = 3;
/** One person may release five locks in a minute. */
const RELEASES = 3;
/** Characters of a label that a row shows. */
const LABEL_CHARS = 34;

/** What is below it goes on living. */
const DIALOG = '[data-testid=release]';

/** Tall enough for all rows of a window. */
test.use({ viewport: { width: 1280, height: 7_000 } });

/** What must not happen, wherever it comes from. */
class Canary {
  readonly sung: string[] = [];

  async watch(context: BrowserContext, home: string): Promise<void> {
    await context.exposeBinding('pwn', (_, which: unknown) => this.sung.push(`ran: ${String(which)}`));
    context.on('request', (request) => {
      if (new URL(request.url()).origin !== home) this.sung.push(`request: ${request.url()}`);
    });
  }

  hear(page: Browser): void {
    page.on('dialog', (dialog) => {
      this.sung.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('popup', (popup) => this.sung.push(`popup: ${popup.url()}`));
    page.on('download', (download) => this.sung.push(`download: ${download.url()}`));
  }
}

type Inventory = { title: string; elements: Record<string, number>; attributes: string[]; handlers: string[]; links: string[] };

/** Everything on the page, or in a part of it, that a text could have made. */
async function inventory(page: Browser, part = 'html'): Promise<Inventory> {
  return page.evaluate((part) => {
    const elements: Record<string, number> = {};
    const attributes = new Set<string>();
    const handlers: string[] = [];
    const links: string[] = [];
    for (const element of document.querySelectorAll(`${part}, ${part} *`)) {
      // They have what the members told of until now, what is the matter with locks of tests beside this one, and numbers of
      // the minutes that were recorded so far.
      if (element.closest('.legend, .needs, .advice, .ot-at')) continue;
      const name = element.localName;
      elements[name] = (elements[name] ?? 0) + 1;
      for (const attribute of element.attributes) {
        attributes.add(attribute.name);
        if (/^on/i.test(attribute.name)) handlers.push(`${name} ${attribute.name}`);
        const isLink = /^(?:href|src|action|formaction|srcdoc|data|xlink:href)$/.test(attribute.name);
        if (isLink && !attribute.value.startsWith('#') && new URL(attribute.value, location.href).origin !== location.origin) {
          links.push(`${name} ${attribute.name}=${attribute.value}`);
        }
      }
    }
    // A title begins with the worst of all locks of the ensemble, those of tests beside this one too.
    const title = document.title.replace(/^[\d\u202f]+ [a-z ]+ · /, '');
    return { title, elements, attributes: [...attributes].sort(), handlers, links };
  }, part);
}

/** The elements a page must have as many of as its twin. */
const COUNTED = [
  ...['img', 'svg', 'math', 'iframe', 'script', 'style', 'link', 'meta', 'base', 'object', 'embed', 'form', 'input', 'button', 'template'],
  ...['video', 'audio', 'details', 'marquee', 'body', 'title', 'textarea', 'dialog', 'table', 'b', 'animate', 'use'],
];

function counted({ elements }: Inventory): Record<string, number> {
  return Object.fromEntries(COUNTED.map((name) => [name, elements[name] ?? 0]));
}

/** The kinds of elements that only the first page has. */
function strange({ elements }: Inventory, twin: Inventory): Record<string, number> {
  return Object.fromEntries(Object.entries(elements).filter(([name]) => !(name in twin.elements)));
}

/** The page is as its twin is, but for texts. */
function isLikeItsTwin(what: string, hostile: Inventory, calm: Inventory): void {
  expect(counted(hostile), `${what}: elements`).toEqual(counted(calm));
  // Items of lists and links come and go with what a live page learns meanwhile.
  const known = new Set(Object.keys(calm.elements));
  expect(Object.keys(hostile.elements).filter((name) => !known.has(name)), `${what}: kinds of elements`).toEqual([]);
  // Findings come by the time; the payloads' own attribute of data is `data-x`.
  const usual = new Set(calm.attributes);
  const isUsual = (name: string) => usual.has(name) || /^(?:aria-|data-(?!x$))/.test(name);
  expect(hostile.attributes.filter((name) => !isUsual(name)), `${what}: attributes`).toEqual([]);
  expect([...hostile.handlers, ...hostile.links], `${what}: handlers, and links to elsewhere`).toEqual([]);
  expect(hostile.title, `${what}: title`).toBe(calm.title);
}

/** The numbers of the payloads in a page's texts and attributes. */
async function shown(page: Browser): Promise<number[]> {
  const html = await page.evaluate(() => {
    const texts = [document.body.textContent ?? ''];
    for (const element of document.querySelectorAll('*')) for (const { value } of element.attributes) texts.push(value);
    return texts.join('\n');
  });
  return [...html.matchAll(CALLS)].map((found) => Number(found[1]));
}

/** As many texts that harm nobody. */
function harmless(count: number): Payload[] {
  return Array.from({ length: count }, (_, number) => ({ number, text: `calm ${number}` }));
}

const isReason = (text: string) => survives(text, 150) && [...text.trim()].length >= 3;
const isLabel = (text: string) => survives(text, LABEL_CHARS);

class World {
  readonly payloads = new Payloads(SEED);
  readonly client: Client;
  readonly place: string;
  private readonly isHostile: boolean;

  constructor(client: Client, place: string, isHostile: boolean) {
    this.client = client;
    this.place = place;
    this.isHostile = isHostile;
  }

  texts(count: number, fits?: (text: string) => boolean): Payload[] {
    return this.isHostile ? this.payloads.some(count, fits) : harmless(count);
  }

  /** Locks with such names, each held by one with such a label. */
  async locks(group: string): Promise<string> {
    const place = `${this.place}/${group}`;
    const [names, labels] = [this.texts(ROWS, isName), this.texts(ROWS, isLabel)];
    const nodes = names.map(({ text }, at) => ({ path: `${place}/${text}/lock-`, data: labels[at]!.text, ephemeral: true, sequence: true }));
    await this.client.plant(nodes);
    return place;
  }

  /** A lock whose contenders have such names and labels. */
  async queue(): Promise<string> {
    const path = `${this.place}/queue`;
    const [names, labels] = [this.texts(ROWS, isName), this.texts(ROWS, isLabel)];
    await this.client.plant(names.map(({ text }, at) => ({ path: `${path}/${text}-`, data: labels[at]!.text, ephemeral: true, sequence: true })));
    return path;
  }

  /** A lock with such children that are not part of it, the first of them in the lock's own path. */
  async strangers(): Promise<string> {
    const path = `${this.place}/strangers`;
    const held = { path: `${path}/lock-`, data: this.texts(1, isLabel)[0]!.text, ephemeral: true, sequence: true };
    const names = this.texts(FOREIGN, (text) => isName(text) && survives(text, 60));
    await this.client.plant([held, ...names.map(({ text }) => ({ path: `${path}/${text}` }))]);
    return path;
  }
}

async function post(lockscope: Lockscope, token: string, what: string, body: object): Promise<{ status: number; answer: Record<string, unknown> }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${lockscope.url}/api/v1/release/${what}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

/** A token that the running server knows. */
async function known(lockscope: Lockscope): Promise<{ token: string; name: string }> {
  const token = lockscope.token('operator');
  let name = '';
  await expect(async () => {
    const me = await fetch(`${lockscope.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    name = ((await me.json()) as { name: string }).name;
    expect(name).toMatch(/^operator-/);
  }).toPass({ intervals: [50] });
  return { token, name };
}

async function signIn(page: Browser, token: string): Promise<void> {
  await page.goto('/sign-in');
  await page.getByLabel('Or a token').fill(token);
  await page.getByRole('button', { name: 'Sign in with the token' }).click();
  await expect(page.getByTestId('visitor')).toContainText('operator');
}

test('more than a thousand hostile texts are shown, and none does anything', async ({ ui, context, clients, lockscope, place, problems }) => {
  const canary = new Canary();
  const page = ui.browser;
  canary.hear(page);
  await canary.watch(context, lockscope.url);
  const [ours, theirs] = await clients.openAll('hostile', 'calm');
  const hostile = new World(ours!, `${place}/a`, true);
  const calm = new World(theirs!, `${place}/b`, false);
  const seen = new Set<number>();
  const look = async (what: string, twin: Inventory): Promise<void> => {
    for (const number of await shown(page)) seen.add(number);
    // A busy machine lets a page grow stale for a moment, and it says so in its title and with elements of its own.
    if ((await ui.banner.count()) > 0) await ui.isLive();
    const found = await inventory(page);
    isLikeItsTwin(what, { ...found, title: found.title.replace(hostile.place, calm.place) }, twin);
    expect(canary.sung, what).toEqual([]);
  };
  const [person, planner, approver, other] = [await known(lockscope), await known(lockscope), await known(lockscope), await known(lockscope)];

  await test.step('the error of a sign-in', async () => {
    problems.expect(/status of 4(?:01|22|29)/);
    const fail = async (name: string): Promise<Inventory> => {
      await page.goto('/sign-in');
      const field = page.getByLabel('Name');
      await field.evaluate((input) => input.removeAttribute('maxlength'));
      await field.fill(name);
      await page.getByLabel('Password').fill('not the one');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await expect(page.getByRole('alert')).toBeVisible();
      await page.waitForLoadState();
      return inventory(page);
    };
    const twin = await fail('calm');
    for (const { text } of hostile.texts(SIGN_INS, (text) => text.startsWith('"') || text.startsWith("'"))) {
      await fail(text);
      await look('sign-in', twin);
    }
  });
  await signIn(page, person.token);

  await test.step('boards: what was there before, and what comes while somebody looks', async () => {
    await ui.openBoard({ q: `${await calm.locks('locks')}/` });
    await ui.isLive();
    await expect(ui.locks).toHaveCount(ROWS);
    const board = await inventory(page);
    const groups = ['before', 'again'];
    for (const group of groups) await hostile.locks(group);
    for (const group of groups) {
      await ui.openBoard({ q: `${hostile.place}/${group}/` });
      await expect(ui.locks).toHaveCount(ROWS);
      await look(`board, ${group}`, board);
    }
    // A pointer over the list holds its order, and with it what comes new.
    await page.mouse.move(0, 0);
    await ui.openBoard({ q: `${hostile.place}/live/` });
    await ui.isLive();
    await expect(ui.locks).toHaveCount(0);
    await hostile.locks('live');
    await expect(ui.locks).toHaveCount(ROWS);
    await look('board, live', board);
  });

  await test.step('a queue, and what else lies in its directory', async () => {
    for (const [lock, rows] of [['queue', ROWS], ['strangers', 1]] as const) {
      const [twin, path] = [await calm[lock](), await hostile[lock]()];
      const open = async (path: string) => {
        await ui.openLock(path);
        await ui.isLive();
        await expect(ui.contenders).toHaveCount(rows);
        if (lock === 'strangers') await expect(page.locator('.bullets li', { hasText: `${path}/` })).toHaveCount(FOREIGN);
      };
      await open(twin);
      const twins = await inventory(page);
      await open(path);
      await look(lock, twins);
    }
  });

  await test.step('a session', async () => {
    await ui.open(`/session?id=${theirs!.session}`);
    const twin = await inventory(page);
    await ui.open(`/session?id=${ours!.session}`);
    const found = await inventory(page);
    for (const number of await shown(page)) seen.add(number);
    // It has more rows than the other; but no more kinds of anything.
    isLikeItsTwin('session', { ...found, title: twin.title, elements: { ...twin.elements, ...strange(found, twin) } }, twin);
    expect(canary.sung).toEqual([]);
  });

  await test.step('plans and results of releases', async () => {
    const release = async (world: World, name: string): Promise<[Inventory, Inventory]> => {
      const [label, next, reason] = [world.texts(1, isLabel)[0]!, world.texts(1, isLabel)[0]!, world.texts(1, isReason)[0]!];
      const path = `${world.place}/released/${name}`;
      const nodes = [label, next].map(({ text }) => ({ path: `${path}/lock-`, data: text, ephemeral: true, sequence: true }));
      await lockscope.knows(path, (await world.client.plant(nodes)).map((node) => node.slice(node.lastIndexOf('/') + 1)));
      await ui.openLock(path);
      await page.getByTestId('dossier').getByRole('button', { name: /release/i }).click();
      const dialog = page.getByTestId('release');
      await dialog.getByLabel(/type the lock/i).fill(path);
      await dialog.getByLabel(/reason/i).fill(reason.text);
      await expect(page.getByTestId('release-go')).toBeEnabled();
      for (const number of await shown(page)) seen.add(number);
      const plan = await inventory(page, DIALOG);
      await page.getByTestId('release-go').click();
      await expect(page.getByTestId('release-result')).toHaveAttribute('data-outcome', 'released');
      for (const number of await shown(page)) seen.add(number);
      const result = await inventory(page, DIALOG);
      return [plan, result];
    };
    const [plan, result] = await release(calm, 'calm');
    for (const { text } of hostile.texts(RELEASES, (text) => isName(text) && text.includes('<'))) {
      const [hostilePlan, hostileResult] = await release(hostile, text);
      isLikeItsTwin('plan', { ...hostilePlan, title: plan.title }, plan);
      isLikeItsTwin('result', { ...hostileResult, title: result.title }, result);
      expect(canary.sung).toEqual([]);
    }
  });

  await test.step('reasons on record', async () => {
    const held = async (world: World): Promise<string> => {
      const path = `${world.place}/planned`;
      const [node] = await world.client.plant([{ path: `${path}/lock-`, ephemeral: true, sequence: true }]);
      await lockscope.knows(path, [node!.slice(path.length + 1)]);
      return node!;
    };
    // Whoever approves gives a reason, as often as they like while the plan lasts.
    const approve = async (path: string, token: string, reasons: Payload[]) => {
      const planned = await post(lockscope, planner.token, 'plan', { path });
      expect(planned.status, JSON.stringify(planned.answer)).toBe(200);
      const plan_id = String(planned.answer.plan_id);
      for (const { text } of reasons) {
        const { status, answer } = await post(lockscope, token, 'approve', { plan_id, confirm: '', reason: text });
        expect(status, JSON.stringify(answer)).toBe(200);
      }
    };
    await approve(await held(calm), other.token, calm.texts(REASON_ROWS));
    const node = await held(hostile);
    for (let left = REASON_PAGES; left > 0; left -= 1) await approve(node, approver.token, hostile.texts(REASON_ROWS, isReason));
    const rows = page.getByTestId('audit').locator('tbody tr');
    await page.goto(`/audit?actor=${other.name}&kind=approved`);
    await expect(rows).toHaveCount(REASON_ROWS);
    const twin = await inventory(page);
    await page.goto(`/audit?actor=${approver.name}&kind=approved`);
    for (let left = REASON_PAGES; left > 0; left -= 1) {
      await expect(rows).toHaveCount(REASON_ROWS);
      await look('reasons', twin);
      if (left > 1) {
        const last = await rows.last().getAttribute('id');
        await page.getByRole('link', { name: 'Older' }).click();
        await expect(page.locator(`#${last}`)).toHaveCount(0);
      }
    }
    expect(lockscope.command('audit', 'verify')).toMatch(/whole/);
  });

  await test.step('filters of the record', async () => {
    const filter = (text: string) => page.goto(`/audit?${new URLSearchParams({ actor: text, lock: text })}`);
    await filter('calm');
    const twin = await inventory(page);
    for (const { text } of hostile.texts(FILTERS)) {
      await filter(text);
      await look('filter', twin);
    }
  });

  expect(canary.sung).toEqual([]);
  await page.evaluate(() => (window as unknown as { pwn: (which: number) => Promise<void> }).pwn(0));
  expect(canary.sung, 'it would have been heard').toEqual(['ran: 0']);
  const { made } = hostile.payloads;
  console.log(`${made} hostile texts made, ${seen.size} of them found in a page by their number`);
  expect(made).toBeGreaterThanOrEqual(PAYLOADS_MIN);
  expect(seen.size).toBeGreaterThanOrEqual(PAYLOADS_MIN);
});
