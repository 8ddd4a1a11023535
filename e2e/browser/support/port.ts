// Free ports of the loopback interface, and questions in four letters to what listens there.

import { connect, createServer } from 'node:net';

/** Ports below the range that connections and those who ask for any port are given, so that nobody takes one meanwhile. */
const [FIRST, END] = [10_240, 32_000];

/** A port that nobody listens on right now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (END - FIRST));
    const server = createServer();
    const isFree = await new Promise<boolean>((told) => {
      server.once('error', () => told(false));
      server.listen(port, '127.0.0.1', () => server.close(() => told(true)));
    });
    if (isFree) return port;
  }
}

/** Sends a four-letter word to a ZooKeeper; undefined when nobody answers. */
export async function fourLetters(port: number, word: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(word));
    socket.setEncoding('utf8');
    socket.setTimeout(2_000, () => socket.destroy());
    socket.on('data', (chunk) => (answer += chunk));
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer === '' ? undefined : answer));
  });
}
