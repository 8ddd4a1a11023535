// By keyboard alone: what can be used is reached in its order, and shows that it was.

import { expect, type Locator, type Page } from '@playwright/test';

/** So many stops are followed; a map of waits has hundreds. */
const STOPS_MAX = 60;
const USABLE = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]';

/** Tab goes through everything usable in the page's main part, in order, and each stop is seen. */
export async function expectByKeyboard(page: Page, what: string): Promise<void> {
  const expected = await page.evaluate(
    ([usable, most]) => {
      const all = [...document.querySelectorAll<HTMLElement>(`#main :is(${usable})`)];
      const can = all.filter((one) => one.tabIndex >= 0 && one.checkVisibility() && !(one as HTMLInputElement).disabled);
      const stops = can.slice(0, most);
      stops.forEach((one, at) => one.setAttribute('data-stop', `${at}`));
      document.getElementById('main')!.focus();
      return stops.length;
    },
    [USABLE, STOPS_MAX] as const,
  );
  expect(expected, `${what} has something to use`).toBeGreaterThan(0);
  for (let at = 0; at < expected; at++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() => {
      const one = document.activeElement as HTMLElement | null;
      const style = one === null ? null : getComputedStyle(one);
      const isSeen = style !== null && (style.outlineStyle !== 'none' || style.boxShadow !== 'none');
      return { at: one?.dataset.stop ?? null, html: one?.outerHTML.slice(0, 160) ?? '', isSeen };
    });
    expect(stop.at, `${what}, stop ${at}: ${stop.html}`).toBe(`${at}`);
    expect(stop.isSeen, `${what}: ${stop.html} shows no focus`).toBe(true);
  }
}

/** Tab until that has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  const hasFocus = () => target.evaluate((one) => one === document.activeElement);
  for (let at = 0; at < 2 * STOPS_MAX && !(await hasFocus()); at++) await page.keyboard.press('Tab');
  expect(await hasFocus(), `${target} is reached by Tab`).toBe(true);
}
