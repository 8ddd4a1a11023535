// Everything a page must not do: errors on the console, uncaught exceptions, violations of the content security
// policy, and headers that the browser does not understand. Collected in every test; what a test provokes on purpose it has to name.

import { type BrowserContext, expect } from '@playwright/test';

export class Problems {
  private readonly found: string[] = [];
  private readonly expected: RegExp[] = [];

  async watch(context: BrowserContext): Promise<void> {
    context.on('console', (message) => {
      const at = message.location().url;
      if (message.type() === 'error' || /content security policy|permissions-policy/i.test(message.text())) this.found.push(`console: ${message.text()} (${at})`);
    });
    context.on('weberror', (error) => this.found.push(`uncaught: ${error.error().stack ?? error.error().message}`));
    await context.exposeBinding('tellOfViolation', (_, what: string) => this.found.push(`policy violation: ${what}`));
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        const { tellOfViolation } = window as unknown as { tellOfViolation: (what: string) => void };
        tellOfViolation(`${event.effectiveDirective} ${event.blockedURI} ${event.sample} at ${event.sourceFile}:${event.lineNumber}`);
      });
    });
  }

  /** A problem that this test provokes. */
  expect(pattern: RegExp): void {
    this.expected.push(pattern);
  }

  /** The address of a page that is not there is logged on the console by the browser itself. */
  expectNotFound(): void {
    this.expect(/Failed to load resource: the server responded with a status of 404/);
  }

  /** While the server is away, so are its answers: the browser logs each on the console. */
  expectOutage(): void {
    this.expect(/net::ERR_|WebSocket connection to .* failed|Failed to fetch/);
  }

  assertNone(): void {
    const unexpected = this.found.filter((problem) => !this.expected.some((pattern) => pattern.test(problem)));
    expect(unexpected, 'problems on the page').toEqual([]);
  }
}
