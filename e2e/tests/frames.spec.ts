// How quick the page is in a browser: `make bench-page`. A queue of 10,000 whose lock changes hands 50 times a second, looked at and
// scrolled through, and a board until the browser has taken it over. Prints what it measured; the goals are in docs/performance.md.

import type { CDPSession, Page } from '@playwright/test';

import { expect, test } from '../support/fixtures.ts';
import { Lockscope } from '../support/lockscope.ts';

const FRAMES = 600;
/** Each a fresh browser context. */
const LOADS = 7;

test.skip(process.env.BENCH !== '1', 'only when figures are wanted');
test.describe.configure({ mode: 'serial' });

const sorted = (numbers: number[]) => [...numbers].sort((one, other) => one - other);
const percentile = (numbers: number[], part: number) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))] ?? NaN;
const ms = (number: number) => `${number.toFixed(1)} ms`;

type Metrics = { TaskDuration: number; ScriptDuration: number; LayoutDuration: number; RecalcStyleDuration: number };

async function metrics(session: CDPSession): Promise<Metrics> {
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value])) as Metrics;
}

/** Milliseconds between frames; scrolls by so many pixels in each. */
function frames(page: Page, count: number, scroll: number): Promise<number[]> {
  return page.evaluate(
    ({ count, scroll }) =>
      new Promise<number[]>((done) => {
        const times: number[] = [];
        let last = 0;
        const step = (now: number) => {
          if (last > 0) times.push(now - last);
          last = now;
          if (scroll > 0) window.scrollBy(0, scroll);
          if (times.length < count) requestAnimationFrame(step);
          else done(times);
        };
        requestAnimationFrame(step);
      }),
    { count, scroll },
  );
}

test('a queue of 10,000 that changes 50 times a second', async ({ page }) => {
  const site = await Lockscope.madeUp('crowd');
  try {
    await page.goto(`${site.url}/lock?path=/order`);
    await expect(page.locator('body[data-hydrated]')).toBeAttached();
    await expect(page.locator('#queue-title')).toHaveText(/^10.00\d contenders$/);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    for (const [what, scroll, isPaused] of [['looked at', 0, false], ['scrolled through', 40, false], ['looked at, updates paused', 0, true]] as const) {
      // The last is what the browser needs for itself.
      if (isPaused) await page.getByTestId('pause').click();
      await frames(page, 60, scroll);
      const before = await metrics(session);
      const times = await frames(page, FRAMES, scroll);
      const after = await metrics(session);
      const each = (name: keyof Metrics) => ((after[name] - before[name]) * 1_000) / FRAMES;
      console.log(
        `10,000 waiters ${what}: frame p50 ${ms(percentile(times, 0.5))}, p99 ${ms(percentile(times, 0.99))}; a frame's tasks ${ms(each('TaskDuration'))}` +
          ` (script ${ms(each('ScriptDuration'))}, style ${ms(each('RecalcStyleDuration'))}, layout ${ms(each('LayoutDuration'))})`,
      );
    }
  } finally {
    await site.kill();
  }
});

test('a board until it is taken over', async ({ browser }) => {
  const site = await Lockscope.madeUp('live');
  try {
    const first: number[] = [];
    const compiling: number[] = [];
    const hydration: number[] = [];
    for (let at = 0; at < LOADS; at++) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.addInitScript(() => {
        const instantiate = WebAssembly.instantiateStreaming;
        WebAssembly.instantiateStreaming = async (...given) => {
          const made = await instantiate(...given);
          performance.mark('compiled');
          return made;
        };
        new MutationObserver(() => {
          if (document.body?.dataset.hydrated) performance.mark('hydrated');
        }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-hydrated'] });
      });
      await page.goto(site.url);
      await expect(page.locator('body[data-hydrated]')).toBeAttached();
      const [whole, compiled, taken] = await page.evaluate(() => {
        const mark = (name: string) => performance.getEntriesByName(name)[0]?.startTime ?? NaN;
        const wasm = performance.getEntriesByType('resource').find(({ name }) => name.endsWith('.wasm')) as PerformanceResourceTiming;
        return [mark('hydrated'), mark('compiled') - wasm.responseEnd, mark('hydrated') - mark('compiled')] as const;
      });
      first.push(whole);
      compiling.push(compiled);
      hydration.push(taken);
      await context.close();
    }
    console.log(`board, nothing cached: usable after ${ms(percentile(first, 0.5))} (worst ${ms(Math.max(...first))}), ` +
      `of which compiling ${ms(percentile(compiling, 0.5))} (worst ${ms(Math.max(...compiling))}) ` +
      `and taking over ${ms(percentile(hydration, 0.5))} (worst ${ms(Math.max(...hydration))})`);
  } finally {
    await site.kill();
  }
});
