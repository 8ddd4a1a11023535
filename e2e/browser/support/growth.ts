// What a page keeps while it is left open: memory of the code, the heap of scripts, elements and listeners, each after the
// browser collected its garbage, and how many elements with a key were drawn meanwhile.

import type { CDPSession, Page } from '@playwright/test';

/** As of one moment. */
export type Kept = {
  /** Bytes of the memory of the page's code. It never shrinks, so it is the most that was ever needed. */
  wasm: number;
  /** Bytes of the heap of scripts. */
  heap: number;
  /** Nodes, those outside the document too. */
  nodes: number;
  listeners: number;
  /** Rows drawn so far. */
  rows: number;
  /** Seconds of CPU time of the page's thread so far. */
  cpu: number;
};

type Watched = { memory?: WebAssembly.Memory; rows: number; sockets: WebSocket[] };

/** From the next document on. A hidden tab draws all that comes, and not once in a while: so many rows come and go sooner. */
export async function watchGrowth(page: Page): Promise<CDPSession> {
  await page.addInitScript(() => {
    Object.defineProperty(document, 'hidden', { get: () => true });
    const watched: Watched = { rows: 0, sockets: [] };
    (window as unknown as { watched: Watched }).watched = watched;
    const found = (exports: WebAssembly.Exports) => {
      if (exports.memory instanceof WebAssembly.Memory) watched.memory ??= exports.memory;
    };
    const streaming = WebAssembly.instantiateStreaming;
    WebAssembly.instantiateStreaming = async (...given) => {
      const made = await streaming(...given);
      found(made.instance.exports);
      return made;
    };
    new MutationObserver((changes) => {
      for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
        if (node instanceof Element && node.matches('[data-key], li, tr')) watched.rows += 1;
      }
    }).observe(document, { subtree: true, childList: true });
    const Socket = window.WebSocket;
    window.WebSocket = class extends Socket {
      constructor(...given: ConstructorParameters<typeof Socket>) {
        super(...given);
        watched.sockets = [this];
      }
    };
  });
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await session.send('HeapProfiler.enable');
  return session;
}

/** What the page keeps now. */
export async function kept(page: Page, session: CDPSession): Promise<Kept> {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const metric = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? NaN;
  const [wasm, rows] = await page.evaluate(() => {
    const { watched } = window as unknown as { watched: Watched };
    return [watched.memory?.buffer.byteLength ?? NaN, watched.rows] as const;
  });
  return { wasm, rows, heap: metric('JSHeapUsedSize'), nodes: metric('Nodes'), listeners: metric('JSEventListeners'), cpu: metric('ThreadTime') };
}

/** Ends the page's connection, as a network that fails does. */
export async function cut(page: Page): Promise<void> {
  await page.evaluate(() => (window as unknown as { watched: Watched }).watched.sockets.forEach((socket) => socket.close()));
}
