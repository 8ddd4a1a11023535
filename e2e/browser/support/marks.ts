// Help marks: what heads a number leads to its definition.

import { expect, type Page } from '@playwright/test';

/**
 * Heads of columns and of figures that are no numbers: names, links, words, forms, and when a row of a table of times begins.
 * The one list of what needs no definition.
 */
const NO_NUMBER = new Set([
  'Address',
  'Asked for',
  'Begins',
  'By',
  'Client',
  'End it',
  'Ensemble',
  'From begin to end',
  'Host',
  'Kind',
  'Lock',
  'Locks',
  'Name',
  'Sent to',
  'Session',
  'State',
  'Value',
  'Waiter',
  'What',
  'Which alerts',
  'While holding',
  'Who',
  'Why',
]);

/** Where definitions stand themselves. */
const DEFINITIONS = '.blame-meanings, .guide';

/** Every head within `where` has its mark or is in the list; gives where the marks lead. */
export async function expectMarked(page: Page, where: string, what: string): Promise<string[]> {
  const heads = await page.locator(`${where} :is(th[scope=col], tfoot th, dt)`).evaluateAll(
    (all, definitions) =>
      all
        .filter((head) => head.closest(definitions) === null)
        .map((head) => ({ text: (head.textContent ?? '').trim(), href: head.querySelector('a[data-explain]')?.getAttribute('href') ?? null })),
    DEFINITIONS,
  );
  expect(heads.length, `${what} has heads`).toBeGreaterThan(0);
  expect(heads.filter(({ text, href }) => href === null && !NO_NUMBER.has(text)).map(({ text }) => text), `${what}: heads without a definition`).toEqual([]);
  const marks = await page.locator(`${where} a[data-explain]`).evaluateAll((all) => all.map((mark) => mark.getAttribute('href') ?? ''));
  expect(marks.every((href) => href.startsWith('/help#')), `${what}: ${marks}`).toBe(true);
  return marks;
}
