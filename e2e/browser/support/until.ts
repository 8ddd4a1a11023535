// Waits for a condition outside the page: asks again and again until it holds, and says what never came true.

const PAUSE_MS = 20;

/** Asks `probe` until it gives something other than undefined or false, and returns that. */
export async function until<T>(what: string, withinMs: number, probe: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
}

/** Settles with `promise`, or fails after a time with a sentence about what was waited for. */
export async function within<T>(what: string, withinMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${withinMs} ms: ${what}`)), withinMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
