// The real server, started as a user starts it, with questions to its API; told to end at the end, and that it
// ends well is part of every run.

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { Child } from './child.ts';
import { until, within } from './until.ts';

const BINARY = process.env.LOCKSCOPE_BIN ?? resolve(import.meta.dirname, '../../target/debug/lockscope');
/** The page over made-up locks: `cargo build -p server --example fixture_site`. */
const FIXTURE = process.env.FIXTURE_BIN ?? join(dirname(BINARY), 'examples/fixture_site');
const START_MS = 30_000;
const END_MS = 15_000;

export type ApiContender = { node: string | null; session_id: string | null; role: 'holder' | 'waiter'; label: string | null };
export type ApiLock = { path: string; verdict: string; sentence: string; waiter_count: number; contenders: ApiContender[] };

export class Lockscope {
  readonly url: string;
  private readonly child: Child;

  private constructor(url: string, child: Child) {
    this.url = url;
    this.child = child;
  }

  /** `serve` against a ZooKeeper, on a free port or the one given. */
  static async serve(hosts: string, options: { listen?: string } = {}): Promise<Lockscope> {
    const server = await Lockscope.run(['serve', '--zk', hosts, '--root', '/', '--listen', options.listen ?? '127.0.0.1:0']);
    await until('the server has read its root', START_MS, async () => (await fetch(`${server.url}/readyz`)).status === 200);
    return server;
  }

  /** `demo`, with locks of its own. */
  static async demo(): Promise<Lockscope> {
    return Lockscope.run(['demo', '--listen', '127.0.0.1:0']);
  }

  /** The page over made-up locks, in a mode of `fixture_site`. */
  static async madeUp(mode: 'live' | 'empty'): Promise<Lockscope> {
    return Lockscope.run([mode, '127.0.0.1:0'], FIXTURE);
  }

  private static async run(args: string[], binary = BINARY): Promise<Lockscope> {
    if (!existsSync(binary)) {
      throw new Error(`no server at ${binary}: run \`make e2e\`, or set LOCKSCOPE_BIN to a built lockscope`);
    }
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LOCKSCOPE_')));
    const child = new Child(binary, args, { env });
    const listening = new Promise<string>((found) => {
      child.onLine((line) => {
        const url = /^(?:lockscope|fixture site) listening on (http:\/\/\S+)$/.exec(line)?.[1];
        if (url) found(url);
      });
    });
    const ended = child.ended.then((end) => {
      throw new Error(`lockscope ${args.join(' ')} ended with ${JSON.stringify(end)}:\n${child.tail()}`);
    });
    ended.catch(() => {});
    const url = await within(`lockscope ${args[0]} says where it listens`, START_MS, Promise.race([listening, ended]));
    return new Lockscope(url, child);
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
    }
  }

  async kill(): Promise<void> {
    this.child.signal('SIGKILL');
    await this.child.ended;
  }

  /** One lock as the API tells it; undefined when there is none. */
  async lock(path: string): Promise<ApiLock | undefined> {
    const answer = await fetch(`${this.url}/api/v1/lock?limit=1000&path=${encodeURIComponent(path)}`);
    return answer.ok ? ((await answer.json()) as ApiLock) : undefined;
  }

  /** Waits until the server knows these znodes, with their sessions, in this order. */
  async knows(path: string, nodes: string[]): Promise<ApiLock> {
    const wanted = nodes.join(' ');
    let seen = 'nothing';
    try {
      return await until('', 10_000, async () => {
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
