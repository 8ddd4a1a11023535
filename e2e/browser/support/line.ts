// A line to a server that can go dead without a word: nothing arrives, nothing is closed.

import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class Line {
  readonly url: string;
  private readonly server: Server;
  private readonly ends = new Set<Socket>();
  private isDead = false;

  private constructor(server: Server, url: string) {
    this.server = server;
    this.url = url;
  }

  static async to(address: string): Promise<Line> {
    const [host, port] = address.split(':');
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const line = new Line(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('connection', (near) => line.join(near, connect(Number(port), host)));
    return line;
  }

  /** From now on nothing arrives. */
  cut(): void {
    this.isDead = true;
    this.ends.forEach((end) => end.pause());
  }

  /** What was held back arrives, late. */
  mend(): void {
    this.isDead = false;
    this.ends.forEach((end) => end.resume());
  }

  async close(): Promise<void> {
    this.ends.forEach((end) => end.destroy());
    await new Promise((done) => this.server.close(done));
  }

  private join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.ends.add(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => {
        this.ends.delete(from);
        to.destroy();
      });
      if (this.isDead) from.pause();
    }
  }
}
