// The allow-list of utility classes, each proved: what the served style sheet makes of it, against what it means.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from '../support/fixtures.ts';

const LIST = fileURLToPath(new URL('../../../style/utilities.txt', import.meta.url));

const MEANING: Record<string, Record<string, string>> = {
  flex: { display: 'flex' },
  'inline-flex': { display: 'inline-flex' },
  grid: { display: 'grid' },
  contents: { display: 'contents' },
  'flex-col': { 'flex-direction': 'column' },
  'flex-wrap': { 'flex-wrap': 'wrap' },
  'flex-1': { 'flex-grow': '1', 'flex-shrink': '1', 'flex-basis': '0%' },
  'shrink-0': { 'flex-shrink': '0' },
  'items-center': { 'align-items': 'center' },
  'items-baseline': { 'align-items': 'baseline' },
  'gap-4': { 'row-gap': '16px', 'column-gap': '16px' },
  'gap-x-2': { 'column-gap': '8px' },
  'gap-y-1': { 'row-gap': '4px' },
  'col-span-full': { 'grid-column-start': '1', 'grid-column-end': '-1' },
  'p-4': { 'padding-top': '16px', 'padding-right': '16px', 'padding-bottom': '16px', 'padding-left': '16px' },
  'px-3': { 'padding-left': '12px', 'padding-right': '12px' },
  relative: { position: 'relative' },
  absolute: { position: 'absolute' },
  sticky: { position: 'sticky' },
  'top-0': { top: '0px' },
  'overflow-hidden': { 'overflow-x': 'hidden', 'overflow-y': 'hidden' },
  'overflow-x-auto': { 'overflow-x': 'auto' },
  truncate: { 'overflow-x': 'hidden', 'overflow-y': 'hidden', 'text-overflow': 'ellipsis', 'white-space': 'nowrap' },
  'whitespace-nowrap': { 'white-space': 'nowrap' },
  'break-all': { 'word-break': 'break-all' },
  'break-words': { 'overflow-wrap': 'break-word' },
  'text-xs': { 'font-size': '12px', 'line-height': '16px' },
  'text-sm': { 'font-size': '14px', 'line-height': '20px' },
  'text-2xl': { 'font-size': '24px', 'line-height': '32px' },
  'font-medium': { 'font-weight': '500' },
  'font-semibold': { 'font-weight': '600' },
  uppercase: { 'text-transform': 'uppercase' },
  'text-right': { 'text-align': 'right' },
  'text-center': { 'text-align': 'center' },
  'tabular-nums': { 'font-variant-numeric': 'tabular-nums' },
};

const listed = readFileSync(LIST, 'utf8')
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => line !== '' && !line.startsWith('#'));

test('every listed utility has a meaning to be held to', () => {
  expect(listed.filter((name) => !(name in MEANING))).toEqual([]);
});

test('every utility that is served means what it says', async ({ page, lockscope }) => {
  await page.goto(lockscope.url);
  const sheet = await page.locator('link[rel=stylesheet]').evaluateAll((links) => links.map((link) => (link as HTMLLinkElement).href));
  expect(sheet.length).toBeGreaterThan(0);

  await page.route(`${lockscope.url}/blank`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<!doctype html><html style="font-size:16px">${sheet.map((href) => `<link rel="stylesheet" href="${href}">`).join('')}<body><div style="all:initial;display:block"><div id="probe"></div></div></body></html>`,
    }),
  );
  await page.goto(`${lockscope.url}/blank`);
  const known = listed.filter((name) => name in MEANING).map((name) => [name, MEANING[name] ?? {}] as const);
  const { served, wrong } = await page.evaluate((known) => {
    const classes = new Set<string>();
    const collect = (rules: CSSRuleList) => {
      for (const rule of rules) {
        if ('selectorText' in rule) for (const [, name] of String(rule.selectorText).matchAll(/\.((?:[\w-]|\\.)+)/g)) classes.add((name ?? '').replaceAll('\\', ''));
        if ('cssRules' in rule) collect(rule.cssRules as CSSRuleList);
      }
    };
    for (const sheet of document.styleSheets) collect(sheet.cssRules);

    const probe = document.getElementById('probe')!;
    const styles = (className: string, properties: string[]) => {
      probe.className = className;
      const style = getComputedStyle(probe);
      return Object.fromEntries(properties.map((name) => [name, style.getPropertyValue(name)]));
    };
    const served = known.filter(([name]) => classes.has(name));
    const wrong: unknown[] = [];
    for (const [name, meaning] of served) {
      const properties = Object.keys(meaning);
      const plain = styles('', properties);
      const styled = styles(name, properties);
      const isRight = properties.every((property) => styled[property] === meaning[property]);
      const isNoChange = properties.every((property) => plain[property] === styled[property]);
      if (!isRight || isNoChange) wrong.push({ name, meaning, styled, plain });
    }
    return { served: served.map(([name]) => name), wrong };
  }, known);
  expect(wrong).toEqual([]);
  expect(served.length, 'utilities in the served sheet').toBeGreaterThan(0);
});
