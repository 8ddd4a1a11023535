// How the browser tests run: which browser, how long they wait, and which specs run with JavaScript off.

import { defineConfig } from '@playwright/test';

const everywhere = /tests\/pages\/.*\.spec\.ts/;

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  reporter: 'list',
  retries: 0,
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    trace: 'off',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
  projects: [
    { name: 'javascript-off', testMatch: everywhere, use: { javaScriptEnabled: false } },
    { name: 'javascript-on', use: { javaScriptEnabled: true } },
  ],
});
