// How quick the page is in a browser: `make bench-page`. A queue of 10,000, a board of 2,000 locks and the page of waits with
// 50 changes a second, looked at and scrolled through, each beside a bare list of rows that changes as often; a board over a slow line, and until the browser has
// taken it over. Prints what it measured; the goals are in docs/performance.md.

import type { Browser, CDPSession, Page } from '@playwright/test';

import { bareList } from '../support/bare-list.ts';
import { expect, test } from '../support/fixtures.ts';
import { Lockscope } from '../support/lockscope.ts';
import { longTasks, tasksOf } from '../support/long-tasks.ts';

const FRAMES = 600;
/** Milliseconds that a task may take. */
const TASK_MS = 3;
/** Each a fresh browser context. */
const LOADS = 7;
/** 1.6 Mbit/s. */
const BYTES_A_SECOND = 200_000;

test.skip(process.env.BENCH !== '1', 'only when figures are wanted');
test.describe.configure({ mode: 'serial' });

const sorted = (numbers: number[]) => [...numbers].sort((one, other) => one - other);
const percentile = (numbers: number[], part: number) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))] ?? NaN;
const ms = (number: number) => `${number.toFixed(1)} ms`;

type Metrics = { ThreadTime: number; TaskDuration: number; ScriptDuration: number; LayoutDuration: number; RecalcStyleDuration: number };

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

const FRAME_US = 1_000_000 / 60;

/** Milliseconds of the main thread's tasks: of each one, by the clock and of CPU time; of all that lie in one frame, by the clock; and of CPU time of the longest of these. */
type Tasks = { each: number[]; cpu: number[]; all: number[]; longest: number[] };

function tasks(trace: Buffer): Tasks {
  const main = tasksOf(trace);
  expect(main.length, 'the trace has tasks').toBeGreaterThan(0);
  const first = Math.min(...main.map(({ ts }) => ts));
  const frames = Math.floor((Math.max(...main.map(({ ts }) => ts)) - first) / FRAME_US);
  const all = new Array<number>(frames).fill(0);
  const longest = new Array<number>(frames).fill(0);
  for (const { ts, dur, tdur } of main) {
    const at = Math.floor((ts - first) / FRAME_US);
    if (at >= frames) continue;
    all[at]! += (dur ?? 0) / 1_000;
    longest[at] = Math.max(longest[at]!, (tdur ?? 0) / 1_000);
  }
  const each = main.map(({ dur }) => (dur ?? 0) / 1_000);
  const cpu = main.map(({ tdur }) => (tdur ?? 0) / 1_000);
  return { each, cpu, all, longest };
}

/** The same while so many frames go by; apart from what else is measured, since writing a trace takes time. */
async function traced(browser: Browser, page: Page, scroll: number): Promise<Tasks> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  await frames(page, FRAMES, scroll);
  return tasks(await browser.stopTracing());
}

/** Which tasks are too long, and what they do; apart from the figures, since so much in a trace takes time of its own. */
async function tooLong(browser: Browser, page: Page, scroll: number): Promise<string> {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  await frames(page, FRAMES / 2, scroll);
  return longTasks(await browser.stopTracing(), TASK_MS);
}

/** p99 of the longest tasks of a bare list's frames, of CPU time: what this browser needs on this machine, now, for rows that change as often. */
async function bare(browser: Browser, page: Page): Promise<number[]> {
  await page.setContent(bareList());
  const p99: number[] = [];
  for (const [how, scroll] of [['looked at', 0], ['scrolled through', 40]] as const) {
    await frames(page, 60, scroll);
    const { each, cpu, longest } = await traced(browser, page, scroll);
    p99.push(percentile(longest, 0.99));
    console.log(
      `a bare list ${how}: p99 of ${each.length} tasks ${ms(percentile(each, 0.99))} (CPU time ${ms(percentile(cpu, 0.99))}), of a frame's longest ${ms(percentile(longest, 0.99))} of CPU time (p50 ${ms(percentile(longest, 0.5))}); ${await tooLong(browser, page, scroll)}`,
    );
  }
  return p99;
}

/** What is looked at: a mode of the made-up site, an address, and what the page must have first. */
const SCENES = [
  { what: '10,000 waiters', mode: 'crowd', path: '/lock?path=/order', ready: '#queue-title' },
  { what: 'a board of 2,000 locks', mode: 'many', path: '/', ready: '[data-lock]' },
  { what: 'waits of 1,500 sessions', mode: 'crowd', path: '/waits', ready: '[data-testid=lead]' },
] as const;

for (const { what, mode, path, ready } of SCENES) {
  test(`${what}, 50 changes a second`, async ({ browser, page }) => {
    test.setTimeout(600_000);
    const site = await Lockscope.madeUp(mode);
    try {
      await page.addInitScript(() => {
        const shifts = { all: 0 };
        (window as unknown as { shifts: typeof shifts }).shifts = shifts;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) shifts.all += (entry as unknown as { value: number }).value;
        }).observe({ type: 'layout-shift', buffered: true });
      });
      const [bareSeen, bareScrolled] = (await bare(browser, page)) as [number, number];
      await page.goto(`${site.url}${path}`);
      await expect(page.locator('body[data-hydrated]')).toBeAttached();
      await expect(page.locator(ready).first()).toBeVisible();
      const session = await page.context().newCDPSession(page);
      await session.send('Performance.enable');
      for (const [how, scroll, isPaused] of [['looked at', 0, false], ['scrolled through', 40, false], ['looked at, updates paused', 0, true]] as const) {
        // The last is what the browser needs for itself.
        if (isPaused) await page.getByTestId('pause').click();
        await frames(page, 60, scroll);
        const before = await metrics(session);
        const times = await frames(page, FRAMES, scroll);
        const after = await metrics(session);
        const each = (name: keyof Metrics) => ((after[name] - before[name]) * 1_000) / FRAMES;
        const { each: task, cpu, all, longest } = await traced(browser, page, scroll);
        const share = (percentile(longest, 0.99) / (scroll > 0 ? bareScrolled : bareSeen)).toFixed(2);
        const [shift, elements] = await page.evaluate(() => [(window as unknown as { shifts: { all: number } }).shifts.all, document.querySelectorAll('*').length] as const);
        console.log(
          `${what} ${how}: frame p50 ${ms(percentile(times, 0.5))}, p99 ${ms(percentile(times, 0.99))}; a frame's tasks ${ms(each('TaskDuration'))}` +
            ` (CPU time ${ms(each('ThreadTime'))}, script ${ms(each('ScriptDuration'))}, style ${ms(each('RecalcStyleDuration'))}, layout ${ms(each('LayoutDuration'))}),` +
            ` p99 of ${task.length} tasks ${ms(percentile(task, 0.99))} (CPU time ${ms(percentile(cpu, 0.99))}), of a frame's together ${ms(percentile(all, 0.99))}, of its longest ${ms(percentile(longest, 0.99))} of CPU time (p50 ${ms(percentile(longest, 0.5))}), ${share} of a bare list's;` +
            ` layout shift so far ${shift.toFixed(4)}; ${elements} elements; ${await tooLong(browser, page, scroll)}`,
        );
      }
    } finally {
      await site.kill();
    }
  });
}

test('a board over a slow line', async ({ browser }) => {
  const site = await Lockscope.madeUp('many');
  try {
    const paints: number[] = [];
    const taken: number[] = [];
    for (let at = 0; at < LOADS; at++) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const session = await context.newCDPSession(page);
      await session.send('Network.enable');
      await session.send('Network.emulateNetworkConditions', { offline: false, latency: 150, downloadThroughput: BYTES_A_SECOND, uploadThroughput: BYTES_A_SECOND });
      await page.addInitScript(() => {
        new MutationObserver(() => {
          if (document.body?.dataset.hydrated) performance.mark('hydrated');
        }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-hydrated'] });
      });
      await page.goto(site.url);
      await expect(page.locator('body[data-hydrated]')).toBeAttached();
      const [paint, hydrated] = await page.evaluate(() => [
        performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
        performance.getEntriesByName('hydrated')[0]?.startTime ?? NaN,
      ] as const);
      paints.push(paint);
      taken.push(hydrated);
      await context.close();
    }
    console.log(`a board of 2,000 locks at 1.6 Mbit/s, 150 ms away, nothing cached: first paint ${ms(percentile(paints, 0.5))} (worst ${ms(Math.max(...paints))}), ` +
      `taken over ${ms(percentile(taken, 0.5))} (worst ${ms(Math.max(...taken))})`);
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
