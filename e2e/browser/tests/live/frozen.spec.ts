// A tab that the browser freezes: nothing of it runs while the locks go on. Thawed, it shows what is there by then, each
// row once, and no holder of before as live.

import { expect, test } from '../../support/fixtures.ts';

/** How long it is frozen: longer than anything may be called live. */
const FROZEN_MS = Number(process.env.FROZEN_MS ?? 6_000);
/** From the thaw to the page's first look at the clock, on a busy machine. */
const FIRST_LOOK_MS_MAX = 1_000;

interface Sample {
  atMs: number;
  state: string;
  text: string;
}

test('a frozen tab shows nothing of before as live once it is thawed', async ({ ui, clients, lockscope, place, page }) => {
  test.setTimeout(60_000 + FROZEN_MS);
  const path = `${place}/orders`;
  const [first, second, third, fourth] = await clients.openAll('first', 'second', 'third', 'fourth');
  const held = await first!.hold(path);
  const next = await second!.queue(path);
  const gone = await third!.hold(`${place}/gone`);
  await ui.openBoard({ q: place });
  await expect(ui.cell(path, 'holder')).toContainText(held.session);
  await expect(ui.locks).toHaveCount(2);
  await ui.isLive();

  // What the page says as soon as it can, and whenever it says something else.
  await page.evaluate(() => {
    const samples: Sample[] = [];
    (window as unknown as { samples: Sample[] }).samples = samples;
    const look = () => {
      const state = document.querySelector('[data-testid=link-banner]')?.getAttribute('data-state') ?? 'none';
      const text = [...document.querySelectorAll('[data-lock] [data-col=holder]')].map((cell) => cell.textContent).join(' ');
      const last = samples.at(-1);
      if (last === undefined || last.state !== state || last.text !== text) samples.push({ atMs: Date.now(), state, text });
    };
    setInterval(look, 20);
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  // Its process stands still: a page that the browser freezes may go on for a while.
  const session = await page.context().browser()!.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  expect(renderers.length).toBeGreaterThan(0);
  renderers.forEach((id) => process.kill(id, 'SIGSTOP'));
  await first!.release();
  await second!.held();
  await third!.release();
  // Gone and back meanwhile, under the key that it had, and one that was not there before.
  const again = await third!.hold(`${place}/gone`);
  await fourth!.hold(`${place}/another`);
  await lockscope.knows(path, [next.node]);
  await new Promise((resolve) => setTimeout(resolve, FROZEN_MS));
  const thawedAtMs = Date.now();
  renderers.forEach((id) => process.kill(id, 'SIGCONT'));

  await expect(ui.cell(path, 'holder')).toContainText(next.session);
  await expect(ui.locks).toHaveCount(3);
  await expect(ui.cell(`${place}/gone`, 'holder')).toContainText(again.session);
  await ui.isLive();
  expect(gone.node).not.toBe(again.node);
  const samples = await page.evaluate(() => (window as unknown as { samples: Sample[] }).samples);
  const stale = samples.filter((sample, at) => {
    const untilMs = samples[at + 1]?.atMs ?? Infinity;
    return sample.state === 'live' && sample.text.includes(held.session) && untilMs > thawedAtMs + FIRST_LOOK_MS_MAX;
  });
  expect(stale, 'live with who held before').toEqual([]);
  expect(samples.some(({ atMs, text }) => atMs < thawedAtMs && !text.includes(held.session)), 'it stood still').toBe(false);
});
