// Real kazoo clients that contend for real locks, each with a session of its own.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { Child } from './child.ts';
import { within } from './until.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const PYTHON = process.env.LOCKSCOPE_PYTHON ?? `${here}/../../../.tools/venv/bin/python`;
const ANSWER_MS = 90_000;

export type Place = { node: string; session: string };
type Answer = Record<string, unknown> & { id?: number; event?: string; who?: string; error?: string; why?: string };

/** One Python process with any number of sessions. */
class Driver {
  private readonly child: Child;
  private readonly asked = new Map<number, (answer: Answer) => void>();
  private readonly events = new Map<string, Answer>();
  private readonly awaited = new Map<string, (answer: Answer) => void>();
  private last = 0;

  constructor(hosts: string) {
    if (!existsSync(PYTHON)) {
      throw new Error(`no Python at ${PYTHON}: run .ci/need kazoo in the repository, or set LOCKSCOPE_PYTHON to a Python that has kazoo`);
    }
    this.child = new Child(PYTHON, ['-u', `${here}/clients.py`, hosts]);
    this.child.onLine((line) => this.hear(JSON.parse(line) as Answer));
  }

  async ask(command: { do: string } & Record<string, unknown>): Promise<Answer> {
    const id = ++this.last;
    const answered = new Promise<Answer>((resolve) => this.asked.set(id, resolve));
    this.child.write(JSON.stringify({ id, ...command }));
    const gone = this.child.ended.then((): Answer => ({ error: `the client process ended:\n${this.child.tail()}` }));
    const answer = await within(`an answer to ${JSON.stringify(command)}`, ANSWER_MS, Promise.race([answered, gone]));
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  async event(name: string, who: string, withinMs: number): Promise<void> {
    const key = `${who}`;
    const told = this.events.get(key);
    const answer = told ?? (await within(`${who} is told "${name}"`, withinMs, new Promise<Answer>((resolve) => this.awaited.set(key, resolve))));
    this.events.delete(key);
    if (answer.event !== name) throw new Error(`${who}: ${answer.event} ${answer.why ?? ''}`);
  }

  /** Ends the process without closing its sessions. */
  async die(): Promise<void> {
    this.child.write(JSON.stringify({ id: ++this.last, do: 'die' }));
    await within('the client process ends', 60_000, this.child.ended);
  }

  async stop(): Promise<void> {
    this.child.signal('SIGKILL');
    await this.child.ended;
  }

  private hear(answer: Answer): void {
    if (answer.id !== undefined) {
      this.asked.get(answer.id)?.(answer);
      this.asked.delete(answer.id);
    } else if (answer.who) {
      const awaited = this.awaited.get(answer.who);
      this.awaited.delete(answer.who);
      if (awaited) awaited(answer);
      else this.events.set(answer.who, answer);
    }
  }
}

/** One session. */
export class Client {
  readonly name: string;
  readonly session: string;
  private readonly driver: Driver;

  constructor(driver: Driver, name: string, session: string) {
    this.driver = driver;
    this.name = name;
    this.session = session;
  }

  /** Stands in the queue for a lock; returns as soon as its znode is there. */
  async queue(path: string): Promise<Place> {
    const { node, session } = await this.ask('queue', { path });
    return { node: String(node), session: String(session) };
  }

  /** Queues and waits until it holds. */
  async hold(path: string): Promise<Place> {
    const place = await this.queue(path);
    await this.held();
    return place;
  }

  /** Returns once kazoo says that the lock is ours. */
  async held(withinMs = 60_000): Promise<void> {
    await this.driver.event('held', this.name, withinMs);
  }

  /** Gives the lock back. */
  async release(): Promise<void> {
    await this.ask('release');
  }

  async close(): Promise<void> {
    await this.ask('close');
  }

  /** Its whole process ends without a word to ZooKeeper: only the session's time-out frees what it holds. */
  async die(): Promise<void> {
    await this.driver.die();
  }

  /** Makes many ephemeral sequential znodes; their names in order. */
  async crowd(path: string, count: number, prefix = 'lock-'): Promise<string[]> {
    return (await this.ask('crowd', { path, count, prefix })).nodes as string[];
  }

  async create(path: string, options: { data?: string; ephemeral?: boolean; sequence?: boolean } = {}): Promise<string> {
    return String((await this.ask('create', { path, ...options })).path);
  }

  /** Makes many znodes, with the directories around them; their paths in order. */
  async plant(nodes: { path: string; data?: string; ephemeral?: boolean; sequence?: boolean }[]): Promise<string[]> {
    const sent = nodes.map(({ data, ...node }) => ({ ...node, data: Buffer.from(data ?? '').toString('base64') }));
    return (await this.ask('plant', { nodes: sent })).paths as string[];
  }

  async delete(path: string): Promise<void> {
    await this.ask('delete', { path });
  }

  /** Who really stands under a path, in order of sequence numbers. */
  async children(path: string): Promise<Place[]> {
    return (await this.ask('children', { path })).children as Place[];
  }

  private async ask(what: string, more: Record<string, unknown> = {}): Promise<Answer> {
    return this.driver.ask({ do: what, who: this.name, ...more });
  }
}

/** The clients of one test; all end with it. */
export class Clients {
  private readonly hosts: string;
  private readonly drivers: Driver[] = [];
  private shared: Driver | undefined;

  constructor(hosts: string) {
    this.hosts = hosts;
  }

  /** A session in a process that it shares with others. */
  async open(name: string, options: { timeoutMs?: number; hosts?: string } = {}): Promise<Client> {
    this.shared ??= this.driver();
    return this.openIn(this.shared, name, options);
  }

  /** Several sessions, in the order of their names. */
  async openAll(...names: string[]): Promise<Client[]> {
    return Promise.all(names.map((name) => this.open(name)));
  }

  /** A session in a process of its own, which may die. */
  async openMortal(name: string, options: { timeoutMs?: number } = {}): Promise<Client> {
    return this.openIn(this.driver(), name, options);
  }

  async stop(): Promise<void> {
    await Promise.all(this.drivers.map((driver) => driver.stop()));
  }

  private driver(): Driver {
    const driver = new Driver(this.hosts);
    this.drivers.push(driver);
    return driver;
  }

  private async openIn(driver: Driver, name: string, { timeoutMs, hosts }: { timeoutMs?: number; hosts?: string }): Promise<Client> {
    const more = { ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }), ...(hosts === undefined ? {} : { hosts }) };
    const { session } = await driver.ask({ do: 'open', who: name, ...more });
    return new Client(driver, name, String(session));
  }
}
