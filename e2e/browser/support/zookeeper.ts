// A private standalone ZooKeeper: a real Java server on a free loopback port with a data directory of its own,
// which can be killed without warning and started again on the same data.

import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Child } from './child.ts';
import { fourLetters, freePort } from './port.ts';
import { until } from './until.ts';

const DEBIAN_JARS = ['zookeeper.jar', 'servlet-api.jar', 'slf4j-simple.jar'].map((jar) => join('/usr/share/java', jar));
const START_MS = 60_000;

export class ZooKeeper {
  readonly port: number;
  private readonly folder: string;
  private child: Child | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.folder = folder;
  }

  static async start(): Promise<ZooKeeper> {
    const server = new ZooKeeper(await freePort(), mkdtempSync(join(tmpdir(), 'lockscope-e2e-')));
    try {
      await server.start();
    } catch (error) {
      await server.remove();
      throw error;
    }
    return server;
  }

  get hosts(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Starts on the data it has, on its own port or another one, and returns when it serves. */
  async start(port = this.port): Promise<void> {
    const config = join(this.folder, 'zoo.cfg');
    const settings = {
      tickTime: 500,
      dataDir: join(this.folder, 'data'),
      clientPort: port,
      clientPortAddress: '127.0.0.1',
      maxClientCnxns: 0,
      // Some clients die and stay known for longer than two rounds of questions.
      maxSessionTimeout: 60_000,
      '4lw.commands.whitelist': '*',
      'admin.enableServer': false,
    };
    writeFileSync(config, Object.entries(settings).map(([name, value]) => `${name}=${value}\n`).join(''));
    // Nor is any data read again after a crash of the machine.
    const options = ['-Xmx96m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dzookeeper.forceSync=no'];
    const child = new Child('java', [...options, '-cp', classpath(), 'org.apache.zookeeper.server.quorum.QuorumPeerMain', config]);
    this.child = child;
    await until(`ZooKeeper serves on port ${port}`, START_MS, async () => {
      if (child.end) throw new Error(`ZooKeeper did not start (is Java installed? Debian: apt-get install default-jre-headless):\n${child.tail()}`);
      return (await fourLetters(port, 'srvr'))?.includes('Mode: standalone');
    });
  }

  /** Ends the process at once, without a word; returns when it is gone. Nothing waits for the disk, which keeps what a process wrote. */
  async kill(): Promise<void> {
    this.child?.signal('SIGKILL');
    await this.child?.ended;
    this.child = undefined;
  }

  /** When it dies, as soon as anybody can know: its connections close. */
  async death(): Promise<{ atMs: Promise<number> }> {
    const socket = connect(this.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {});
    return { atMs: new Promise((told) => socket.once('close', () => told(performance.timeOrigin + performance.now()))) };
  }

  /** Ends the process and removes its data. */
  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.end === undefined;
  }
}

function classpath(): string {
  const home = process.env.ZOOKEEPER_HOME;
  if (home) {
    const lib = join(home, 'lib');
    const jars = existsSync(lib) ? readdirSync(lib).filter((name) => name.endsWith('.jar')) : [];
    if (jars.length === 0) throw new Error(`ZOOKEEPER_HOME=${home} has no lib/*.jar: set it to an unpacked Apache ZooKeeper`);
    return jars.map((jar) => join(lib, jar)).join(':');
  }
  const missing = DEBIAN_JARS.filter((jar) => !existsSync(jar));
  if (missing.length > 0) {
    throw new Error(`missing ${missing.join(', ')}: apt-get install zookeeper libservlet-api-java, or set ZOOKEEPER_HOME`);
  }
  return DEBIAN_JARS.join(':');
}
