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
const REASONS = 200;
const FILTERS = 25;
const SIGN_INS = 3;
/** Characters of a label that a row shows. */
const LABEL_CHARS = 34;

/** Tall enough for all rows of a window. */
test.use({ viewport: { width: 1280, height: 7_000 } });
test.describe.configure({ timeout: 120_000 });

/** What must not happen, wherever it comes from. */
class Canary {
  readonly sung: string[] = [];

  async watch(context: BrowserContext, home: string): Promise<void> {
    await context.exposeBinding('pwn', (_, which: unknown) => this.sung.push(`ran: ${String(which)}`));
    context.on('request', (request) => {
      if (new URL(request.url()).origin !== home) this.sung.push(`request: ${request.url()}`);
    });
    context.on('page', (page) => {
      page.on('dialog', (dialog) => {
        this.sung.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('popup', (popup) => this.sung.push(`popup: ${popup.url()}`));
      page.on('download', (download) => this.sung.push(`download: ${download.url()}`));
    });
  }
}

type Inventory = { title: string; elements: Record<string, number>; attributes: string[]; handlers: string[]; links: string[] };

/** Everything on the page that a text could have made. */
async function inventory(page: Browser): Promise<Inventory> {
  return page.evaluate(() => {
    const elements: Record<string, number> = {};
    const attributes = new Set<string>();
    const handlers: string[] = [];
    const links: string[] = [];
    for (const element of document.querySelectorAll('*')) {
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
    return { title: document.title, elements, attributes: [...attributes].sort(), handlers, links };
  });
}

/** The elements a page must have as many of as its twin. */
const COUNTED = [
  ...['img', 'svg', 'math', 'iframe', 'script', 'style', 'link', 'meta', 'base', 'object', 'embed', 'form', 'input', 'button', 'template'],
  ...['video', 'audio', 'details', 'marquee', 'body', 'title', 'textarea', 'dialog', 'table', 'tr', 'li', 'a', 'b', 'animate', 'use'],
];

function counted({ elements }: Inventory): Record<string, number> {
  return Object.fromEntries(COUNTED.map((name) => [name, elements[name] ?? 0]));
}

/** The page is as its twin is, but for texts. */
function isLikeItsTwin(what: string, hostile: Inventory, calm: Inventory): void {
  expect(counted(hostile), `${what}: elements`).toEqual(counted(calm));
  const known = new Set(Object.keys(calm.elements));
  expect(Object.keys(hostile.elements).filter((name) => !known.has(name)), `${what}: kinds of elements`).toEqual([]);
  const usual = new Set(calm.attributes);
  expect(hostile.attributes.filter((name) => !usual.has(name)), `${what}: attributes`).toEqual([]);
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
  }).toPass({ intervals: [50], timeout: 10_000 });
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
  await canary.watch(context, lockscope.url);
  const page = ui.browser;
  page.on('dialog', (dialog) => {
    canary.sung.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const [ours, theirs] = await clients.openAll('hostile', 'calm');
  const hostile = new World(ours!, `${place}/a`, true);
  const calm = new World(theirs!, `${place}/b`, false);
  const seen = new Set<number>();
  const look = async (what: string, twin: Inventory): Promise<void> => {
    for (const number of await shown(page)) seen.add(number);
    isLikeItsTwin(what, await inventory(page), twin);
  };

  // Boards: what was there before, and what comes while somebody looks.
  const calmLocks = await calm.locks('locks');
  await ui.openBoard({ q: `${calmLocks}/` });
  await expect(ui.locks).toHaveCount(ROWS);
  const board = await inventory(page);
  for (const group of ['before', 'again']) {
    const locks = await hostile.locks(group);
    await ui.openBoard({ q: `${locks}/` });
    await expect(ui.locks).toHaveCount(ROWS);
    await look(`board, ${group}`, board);
  }
  await ui.openBoard({ q: `${hostile.place}/live/` });
  await ui.isLive();
  await expect(ui.locks).toHaveCount(0);
  await hostile.locks('live');
  await expect(ui.locks).toHaveCount(ROWS);
  await look('board, live', board);

  // A lock's queue, and what else lies in its directory.
  for (const lock of ['queue', 'strangers'] as const) {
    const [twin, path] = [await calm[lock](), await hostile[lock]()];
    const rows = lock === 'queue' ? ROWS : 1;
    await ui.openLock(twin);
    await expect(ui.contenders).toHaveCount(rows);
    const twins = await inventory(page);
    await ui.openLock(path);
    await expect(ui.contenders).toHaveCount(rows);
    await look(lock, twins);
  }
  await ui.open(`/session?id=${theirs!.session}`);
  const session = await inventory(page);
  await ui.open(`/session?id=${ours!.session}`);
  await look('session', session);

  console.log(`${hostile.payloads.made} made, ${seen.size} shown`);
  expect(canary.sung).toEqual([]);
  void problems; void post; void known; void signIn; void REASONS; void FILTERS; void SIGN_INS; void PAYLOADS_MIN;
});
