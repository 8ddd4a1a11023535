// The page's hooks under names: where rows, columns, the banner and the lock page's parts are found.

import { expect, type Locator, type Page as Browser, type Response } from '@playwright/test';

export type BoardColumn = 'verdict' | 'sentence' | 'holder' | 'hold' | 'waiters' | 'oldest' | 'depth';
export type SessionColumn = 'id' | 'state' | 'who' | 'client' | 'holds' | 'waits' | 'blocks' | 'hold' | 'oldest' | 'znodes' | 'locks';
export type LockColumn = 'node' | 'sequence' | 'session' | 'time' | 'waits-for' | 'liveness';

export class Page {
  readonly browser: Browser;
  readonly hasScript: boolean;

  constructor(browser: Browser, hasScript: boolean) {
    this.browser = browser;
    this.hasScript = hasScript;
  }

  /** Opens an address and waits until the page is as alive as it will be. */
  async open(address: string): Promise<Response> {
    const response = await this.browser.goto(address);
    if (!response) throw new Error(`no answer from ${address}`);
    await this.hydrated();
    return response;
  }

  async openBoard(query: Record<string, string> = {}): Promise<Response> {
    return this.open(`/${search(query)}`);
  }

  async openLock(path: string): Promise<Response> {
    const response = await this.open(`/lock${search({ path })}`);
    if ((await this.browser.locator('#contenders').count()) > 0) await this.openTable();
    return response;
  }

  /** A short queue is a chain, with its table folded: opens that, where there is one. */
  async openTable(): Promise<void> {
    if (!this.hasScript) return;
    await this.browser.getByTestId('queue-fold').evaluate((details: HTMLDetailsElement) => { details.open = true });
  }

  async openSessions(query: Record<string, string> = {}): Promise<Response> {
    return this.open(`/sessions${search(query)}`);
  }

  async hydrated(): Promise<void> {
    if (this.hasScript) await expect(this.browser.locator('body')).toHaveAttribute('data-hydrated', 'true');
  }

  get banner(): Locator {
    return this.browser.getByTestId('link-banner');
  }

  async isLive(): Promise<void> {
    await expect(this.banner).toHaveAttribute('data-state', 'live');
  }

  /** The board's rows. */
  get locks(): Locator {
    return this.browser.locator('[data-lock]');
  }

  lock(path: string): Locator {
    return this.browser.locator(`[data-lock=${quoted(path)}]`);
  }

  cell(path: string, column: BoardColumn): Locator {
    return this.lock(path).locator(`[data-col=${column}]`);
  }

  /** The rows of the list of sessions. */
  get sessions(): Locator {
    return this.browser.locator('[data-session]');
  }

  session(id: string): Locator {
    return this.browser.locator(`[data-session=${quoted(id)}]`);
  }

  sessionCell(id: string, column: SessionColumn): Locator {
    return this.session(id).locator(`[data-col=${column}]`);
  }

  get filter(): Locator {
    return this.browser.getByTestId('filter');
  }

  get help(): Locator {
    return this.browser.getByTestId('help');
  }

  /** The lock page's rows. */
  get contenders(): Locator {
    return this.browser.locator('[data-node]');
  }

  contender(node: string): Locator {
    return this.browser.locator(`[data-node=${quoted(node)}]`);
  }

  contenderCell(node: string, column: LockColumn): Locator {
    return this.contender(node).locator(`[data-col=${column}]`);
  }

  get chain(): Locator {
    return this.browser.getByTestId('chain');
  }

  get verdict(): Locator {
    return this.browser.getByTestId('verdict');
  }

  /** Waits until the lock page shows these contenders, with their sessions, in this order and no others. */
  async showsQueue(places: { node: string; session: string }[]): Promise<void> {
    await expect
      .poll(() =>
        this.contenders.evaluateAll((rows) =>
          rows.map((row) => {
            // Bit by bit: what stands next to the id is not part of it.
            const texts = document.createTreeWalker(row.querySelector('[data-col=session]') ?? row, NodeFilter.SHOW_TEXT);
            let session = 'no session';
            for (let text = texts.nextNode(); text; text = texts.nextNode()) {
              if (/^\s*0x[0-9a-f]+\s*$/.test(text.textContent ?? '')) session = (text.textContent ?? '').trim();
            }
            return `${row.getAttribute('data-node')} ${session}`;
          }),
        ),
      )
      .toEqual(places.map(({ node, session }) => `${node} ${session}`));
  }

  /** The row says whom it waits for: shortened to look at, whole for who asks. */
  async waitsFor(node: string, other: string): Promise<void> {
    const cell = this.contenderCell(node, 'waits-for');
    await expect(cell).toContainText(other.slice(-10));
    await expect(cell).toHaveAttribute('title', new RegExp(`/${other},`));
  }

  /** Marks the document, so that a reload shows. */
  async mark(): Promise<void> {
    await this.browser.evaluate(() => document.documentElement.setAttribute('data-marked', ''));
  }

  async isSameDocument(): Promise<void> {
    await expect(this.browser.locator('html')).toHaveAttribute('data-marked', '');
  }

  /** How far the page is wider than its window. */
  async overflow(): Promise<number> {
    return this.browser.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  }
}

/** A string as CSS writes it. */
function quoted(text: string): string {
  const escaped = [...text].map((char) => (/[\w/ -]/.test(char) ? char : `\\${(char.codePointAt(0) ?? 0).toString(16)} `));
  return `"${escaped.join('')}"`;
}

function search(query: Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}
