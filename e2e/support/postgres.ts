// A private PostgreSQL: a real server on a free loopback port with a data directory of its own. As root it runs as the user
// that its package brings, since PostgreSQL refuses to be root.

import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Child } from './child.ts';
import { freePort } from './port.ts';
import { until } from './until.ts';

/** Where packages put its programs; a folder of the environment comes first. */
const PACKAGED = '/usr/lib/postgresql';
const PASSWORD = 'private';
const NAME = 'lockscope';
const START_MS = 60_000;

export class Postgres {
  private readonly port: number;
  private readonly folder: string;
  private readonly child: Child;

  private constructor(port: number, folder: string, child: Child) {
    this.port = port;
    this.folder = folder;
    this.child = child;
  }

  /** Where its programs are; undefined where it is not installed. */
  static programs(): string | undefined {
    const has = (folder: string) => ['initdb', 'postgres', 'createdb'].every((name) => existsSync(join(folder, name)));
    const own = process.env.POSTGRES_BIN;
    if (own) return has(own) ? own : undefined;
    const versions = existsSync(PACKAGED) ? readdirSync(PACKAGED).sort((one, other) => Number(other) - Number(one)) : [];
    return versions.map((version) => join(PACKAGED, version, 'bin')).find(has);
  }

  static async start(): Promise<Postgres> {
    const programs = Postgres.programs();
    if (!programs) throw new Error('PostgreSQL is not installed: apt-get install postgresql, or set POSTGRES_BIN');
    const folder = mkdtempSync(join(tmpdir(), 'lockscope-e2e-'));
    try {
      const [port, as] = [await freePort(), asUser(folder)];
      const run = (program: string, ...args: string[]) => {
        const [command, ...rest] = [...as, join(programs, program), ...args];
        const env = { ...process.env, PGHOST: '127.0.0.1', PGPORT: `${port}`, PGUSER: NAME, PGPASSWORD: PASSWORD };
        execFileSync(command!, rest, { cwd: folder, env, stdio: 'pipe' });
      };
      const [data, password] = [join(folder, 'data'), join(folder, 'password')];
      writeFileSync(password, PASSWORD);
      run('initdb', '--pgdata', data, '--pwfile', password, `--username=${NAME}`, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync');
      const settings = { fsync: 'off', listen_addresses: "'127.0.0.1'", port, unix_socket_directories: `'${folder}'`, shared_buffers: '16MB' };
      const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
      // What is appended leaves the file with the user that owns it.
      writeFileSync(join(data, 'postgresql.conf'), lines.join(''), { flag: 'a' });
      const [command, ...rest] = [...as, join(programs, 'postgres'), '-D', data];
      const child = new Child(command!, rest, { cwd: folder });
      const server = new Postgres(port, folder, child);
      await until(`PostgreSQL answers on port ${port}`, START_MS, async () => {
        if (child.end) throw new Error(`PostgreSQL did not start:\n${child.tail()}`);
        return child.tail(200).includes('database system is ready to accept connections');
      });
      run('createdb', NAME);
      return server;
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Its database, with user and password. */
  get url(): string {
    return `postgres://${NAME}:${PASSWORD}@127.0.0.1:${this.port}/${NAME}`;
  }

  /** Ends it at once and removes its data. */
  async remove(): Promise<void> {
    // An immediate shutdown: its processes end as well, and none is left that writes to the folder.
    this.child.signal('SIGQUIT');
    await this.child.ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What runs a program as another user, to whom the folder is given; nothing where we are not root. */
function asUser(folder: string): string[] {
  if (process.getuid?.() !== 0) return [];
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':'));
  const account = ['postgres', 'nobody'].map((user) => accounts.find(([name]) => name === user)).find((found) => found);
  if (!account) throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody');
  const [user, group] = [account[2]!, account[3]!];
  chownSync(folder, Number(user), Number(group));
  return ['setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups'];
}
