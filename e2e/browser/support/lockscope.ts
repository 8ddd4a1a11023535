// The real server, started as a user starts it, with questions to its API; stopped at the end, and that it
// ends well is part of every run.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Child } from './child.ts';
import { until, within } from './until.ts';

const BINARY = process.env.LOCKSCOPE_BIN ?? fileURLToPath(new URL('../../../target/debug/lockscope', import.meta.url));
/** The page over made-up locks: `cargo build -p lockscope --example fixture_site`. */
const FIXTURE = process.env.FIXTURE_BIN ?? join(dirname(BINARY), 'examples/fixture_site');
const START_MS = 60_000;
const END_MS = 60_000;

export type ApiContender = { node: string | null; session_id: string | null; role: 'holder' | 'waiter'; label: string | null };
export type ApiLock = { path: string; verdict: string; sentence: string; waiter_count: number | null; contenders: ApiContender[] };

/** A mode of `fixture_site`. */
export type MadeUp = 'live' | 'crowd' | 'many' | 'passing' | 'empty' | 'unreached' | 'denied';

let tokens = 0;

/** Nobody's settings but ours. */
function environment(data: string): Record<string, string> {
  const others = Object.entries(process.env).filter(([name, value]) => value !== undefined && !name.startsWith('LOCKSCOPE_'));
  return { ...(Object.fromEntries(others) as Record<string, string>), LOCKSCOPE_DATA_DIR: data };
}

export class Lockscope {
  readonly url: string;
  /** Where it keeps credentials and the record; of this run only. */
  readonly data: string;
  /** What a demo signs its first operator in with. */
  readonly link: string | undefined;
  private readonly child: Child;
  private readonly args: string[];

  private constructor(url: string, child: Child, data: string, link: string | undefined, args: string[]) {
    this.url = url;
    this.child = child;
    this.data = data;
    this.link = link;
    this.args = args;
  }

  /** `serve` against a ZooKeeper, on a free port or the one given; `file` is the text of a configuration file. */
  static async serve(hosts: string, options: { listen?: string; more?: string[]; file?: string } = {}): Promise<Lockscope> {
    const args = ['serve', '--zk', hosts, '--root', '/', '--listen', options.listen ?? '127.0.0.1:0', ...(options.more ?? [])];
    const server = await Lockscope.run(args, BINARY, options.file);
    await until('the server has read its root', START_MS, async () => (await fetch(`${server.url}/readyz`)).status === 200);
    return server;
  }

  /** `serve` with the ensembles of a configuration file's text; they need not be there. */
  static async serveEnsembles(file: string): Promise<Lockscope> {
    return Lockscope.run(['serve', '--listen', '127.0.0.1:0'], BINARY, file);
  }

  /** `demo`, with locks of its own. */
  static async demo(): Promise<Lockscope> {
    return Lockscope.run(['demo', '--listen', '127.0.0.1:0']);
  }

  /** The page over made-up locks, which change every so many milliseconds. */
  static async madeUp(mode: MadeUp, turnMs?: number): Promise<Lockscope> {
    return Lockscope.run([mode, '127.0.0.1:0', ...(turnMs === undefined ? [] : [String(turnMs)])], FIXTURE);
  }

  /** Another process with the same data at the same address, after the first was killed. */
  async restart(): Promise<Lockscope> {
    this.child.signal('SIGKILL');
    await this.child.ended;
    const at = this.args.indexOf('--listen');
    return Lockscope.run([...this.args.slice(0, at), '--listen', this.address, ...this.args.slice(at + 2)], BINARY, undefined, this.data);
  }

  private static async run(args: string[], binary = BINARY, file?: string, kept?: string): Promise<Lockscope> {
    if (!existsSync(binary)) {
      throw new Error(`no server at ${binary}: run \`make e2e\`, or set LOCKSCOPE_BIN to a built lockscope`);
    }
    const data = kept ?? mkdtempSync(join(tmpdir(), 'lockscope-e2e-'));
    if (file !== undefined) {
      writeFileSync(join(data, 'lockscope.toml'), file);
      args = [...args, '--config', join(data, 'lockscope.toml')];
    }
    const child = new Child(binary, args, { env: environment(data) });
    let link: string | undefined;
    const listening = new Promise<string>((found) => {
      child.onLine((line) => {
        link ??= /http:\/\/\S+\/sign-in\/once\S+/.exec(line)?.[0];
        const url = /^(?:lockscope|fixture site) listening on (http:\/\/\S+)$/.exec(line)?.[1];
        if (url) found(url);
      });
    });
    const ended = child.ended.then((end) => {
      throw new Error(`lockscope ${args.join(' ')} ended with ${JSON.stringify(end)}:\n${child.tail()}`);
    });
    ended.catch(() => {});
    const url = await within(`lockscope ${args[0]} says where it listens`, START_MS, Promise.race([listening, ended]));
    if (args[0] === 'demo') await until('the demo prints its link', START_MS, async () => link);
    return new Lockscope(url, child, data, link, args);
  }

  get address(): string {
    return new URL(this.url).host;
  }

  get log(): string {
    return this.child.tail(200);
  }

  /** Asks it to end, and insists that it does so cleanly. */
  async stop(): Promise<void> {
    if (this.child.end) throw new Error(`the server had ended by itself with ${JSON.stringify(this.child.end)}:\n${this.child.tail()}`);
    this.child.signal('SIGTERM');
    try {
      const end = await within('the server ends after SIGTERM', END_MS, this.child.ended);
      if (end.code !== 0) throw new Error(`the server ended with ${JSON.stringify(end)} after SIGTERM:\n${this.child.tail()}`);
    } finally {
      this.child.signal('SIGKILL');
      rmSync(this.data, { recursive: true, force: true });
    }
  }

  /** What another command of the binary prints, about this server's data. */
  command(...args: string[]): string {
    return execFileSync(BINARY, args, { env: environment(this.data), encoding: 'utf8' });
  }

  /** A new token. */
  token(role: 'viewer' | 'operator' | 'auditor' | 'admin', ...more: string[]): string {
    const lines = this.command('token', 'new', '--name', `${role}-${++tokens}`, '--role', role, ...more).trim().split('\n');
    return lines[lines.length - 1]!;
  }

  /** Stands still, as a machine that is paused does. */
  stand(): void {
    this.child.signal('SIGSTOP');
  }

  /** Goes on. */
  go(): void {
    this.child.signal('SIGCONT');
  }

  async kill(): Promise<void> {
    this.child.signal('SIGKILL');
    await this.child.ended;
    rmSync(this.data, { recursive: true, force: true });
  }

  /** One lock as the API has it; undefined when there is none. */
  async lock(path: string): Promise<ApiLock | undefined> {
    const answer = await fetch(`${this.url}/api/v1/lock?limit=1000&path=${encodeURIComponent(path)}`);
    return answer.ok ? ((await answer.json()) as ApiLock) : undefined;
  }

  /** Waits until the server knows these znodes, with their sessions, in this order. */
  async knows(path: string, nodes: string[]): Promise<ApiLock> {
    const wanted = nodes.join(' ');
    let seen = 'nothing';
    try {
      return await until('', 30_000, async () => {
        const lock = await this.lock(path);
        seen = JSON.stringify(lock?.contenders.map(({ node, session_id }) => [node, session_id]));
        const isSame = lock?.contenders.map(({ node }) => node).join(' ') === wanted;
        return isSame && lock.contenders.every(({ session_id }) => session_id !== null) && lock;
      });
    } catch {
      throw new Error(`the API never told of ${path} with ${wanted}; last: ${seen}\n${this.child.tail()}`);
    }
  }
}
