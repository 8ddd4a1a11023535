// When the link banner changed, noted by the page itself: polling from outside would be too coarse to measure with.

import type { Page } from './page.ts';

export type Seen = { state: string; atMs: number };

/** Keeps every state of the banner from now on, with the time. */
export async function recordBanner(ui: Page): Promise<void> {
  await ui.browser.evaluate(() => {
    const seen: Seen[] = [];
    const look = () => {
      const state = document.querySelector('[data-testid=link-banner]')?.getAttribute('data-state') ?? 'none';
      if (seen.at(-1)?.state !== state) seen.push({ state, atMs: performance.timeOrigin + performance.now() });
    };
    look();
    new MutationObserver(look).observe(document.body, { attributes: true, attributeFilter: ['data-state'], childList: true, subtree: true });
    (window as unknown as { bannerSeen: Seen[] }).bannerSeen = seen;
  });
}

export async function bannerSeen(ui: Page): Promise<Seen[]> {
  return ui.browser.evaluate(() => (window as unknown as { bannerSeen: Seen[] }).bannerSeen);
}
