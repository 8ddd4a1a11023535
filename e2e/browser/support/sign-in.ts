// Signing in as people do: by a token, on the page for it.

import { expect, type Page } from '@playwright/test';

import type { Lockscope } from './lockscope.ts';

export async function signIn(page: Page, lockscope: Lockscope, role: 'viewer' | 'operator' | 'auditor', token = lockscope.token(role)): Promise<void> {
  // A server without any credential offers no form; it notices the first within a second.
  await expect(async () => {
    await page.goto(`${lockscope.url}/sign-in`);
    await expect(page.getByLabel('Or a token')).toBeVisible({ timeout: 200 });
  }).toPass();
  await page.getByLabel('Or a token').fill(token);
  await page.getByRole('button', { name: 'Sign in with the token' }).click();
  await expect(page.getByTestId('visitor')).toContainText(role);
}
