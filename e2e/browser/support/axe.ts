// Accessibility: axe-core finds nothing serious on a page as it stands.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { expect, type Page } from '@playwright/test';
import type { AxeResults } from 'axe-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** `what` names the state of the page in a failure. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(AXE);
  const results = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: () => Promise<AxeResults> } };
    return (await axe.run()).violations;
  });
  const serious = results.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(serious.map(({ id, help, nodes }) => ({ id, help, where: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`) })), what).toEqual([]);
}
