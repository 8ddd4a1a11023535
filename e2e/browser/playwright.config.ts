// How the browser tests run: which browser, how long they wait, and which specs run with JavaScript off.

import { existsSync } from 'node:fs';

import { defineConfig } from '@playwright/test';

// The engine without a window around it, or the whole browser.
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const everywhere = /tests\/pages\/.*\.spec\.ts/;

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  reporter: 'list',
  // What passes only the second time is told as flaky at the end: a matter of load, and to be mended all the same.
  retries: 1,
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // Nobody waits for so long but where something is broken; a busy machine is slow.
  timeout: 240_000,
  expect: { timeout: 30_000 },
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    trace: 'off',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? browsers.find(existsSync) ?? '/usr/bin/chromium',
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
