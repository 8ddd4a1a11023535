// Three real servers of one cluster over one ZooKeeper, of which two watch it: the third shows what they see.

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Lockscope } from './lockscope.ts';
import { until } from './until.ts';

/** Who is new counts after ten seconds; until then what is owned moves. */
const SETTLED_MS = 13_000;
const START_MS = 90_000;

type View = { replicas: { id: string }[]; assignments: { owners: string[] }[] };

export class Cluster {
  /** Those that watch the ensemble, the first owner first. */
  readonly owners: Lockscope[];
  /** The one that watches nothing. */
  readonly gateway: Lockscope;
  private readonly folder: string;

  private constructor(owners: Lockscope[], gateway: Lockscope, folder: string) {
    this.owners = owners;
    this.gateway = gateway;
    this.folder = folder;
  }

  /** Starts them below a znode of their own, and waits until they agree who owns what. `database`: where all keep one history. */
  static async start(hosts: string, root: string, database?: string): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'lockscope-e2e-'));
    const secret = join(folder, 'secret');
    writeFileSync(secret, '0123456789abcdef0123456789abcdef\n');
    const servers = new Map<string, Lockscope>();
    const history = database === undefined ? 'history = "off"' : `history_url = "${database}"`;
    for (const id of ['a', 'b', 'c']) {
      const file = `zk = "${hosts}"\nroot = ["/"]\n${history}\nevidence = "off"\nsession_timeout_ms = 6000\n[cluster]\nroot = "${root}"\nallow_open_cluster = true\nid = "${id}"\nwatch = "owned"\nsecret_file = "${secret}"\n`;
      servers.set(id, await Lockscope.serveEnsembles(file));
    }
    const view = async (server: Lockscope) => (await (await fetch(`${server.url}/api/v1/cluster`)).json()) as View;
    let since = Date.now();
    let before = '';
    const owners = await until('three servers agree on two owners', START_MS, async () => {
      const views = await Promise.all([...servers.values()].map(view));
      const said = views.map(({ replicas, assignments }) => (replicas.length === 3 ? (assignments[0]?.owners ?? []).join(' ') : ''));
      const are = new Set(said).size === 1 && said[0]!.split(' ').length === 2;
      if (!are || said[0] !== before) since = Date.now();
      before = said[0]!;
      return are && Date.now() - since > SETTLED_MS && said[0]!.split(' ');
    });
    const [id] = [...servers.keys()].filter((id) => !owners.includes(id));
    return new Cluster(owners.map((id) => servers.get(id)!), servers.get(id!)!, folder);
  }

  /** A token that all of them know. */
  token(role: 'viewer' | 'operator'): string {
    const token = this.gateway.token(role);
    for (const owner of this.owners) copyFileSync(join(this.gateway.data, 'tokens.json'), join(owner.data, 'tokens.json'));
    return token;
  }

  async stop(): Promise<void> {
    await Promise.all([this.gateway, ...this.owners].map((server) => server.kill()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
