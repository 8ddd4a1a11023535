// The hour that the demo comes with: rewound from a live page, gone through by the strip, and left for the present again.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';

const STUCK = '/shipping/labels';
const HANGS = 'labels-hung';
/** The strip's drawing is this wide. */
const STRIP_WIDTH = 1_000;

let demo: Lockscope;
test.beforeAll(async () => {
  demo = await Lockscope.demo();
});
test.afterAll(async () => {
  await demo.stop();
});

test('an hour of the demo is there to be rewound, and says what it is', async ({ ui, page }) => {
  const lock = `${demo.url}/lock?path=${encodeURIComponent(STUCK)}`;
  // Something real is recorded, and the page of the newest moment is of that.
  await expect.poll(async () => (await page.request.get(`${lock}&at=now`)).status(), { timeout: 30_000 }).toBe(200);
  await ui.open(lock);
  await ui.isLive();
  await expect(page.getByTestId('past-generated')).toHaveCount(0);
  // The lock over time reaches into that hour, and says where it ends.
  await page.keyboard.press('t');
  await expect(page.getByTestId('over-time')).toContainText('generated for the demo');

  await page.getByTestId('rewind').click();
  const band = page.getByTestId('past-band');
  const generated = page.getByTestId('past-generated');
  await expect(band).toBeVisible();
  await expect(generated).toHaveCount(0);

  // The first red of the strip is the lock that was stuck: a click into the middle of it leads there.
  const strip = page.getByTestId('past-strip');
  const red = strip.locator('rect.past-trouble[data-severity="2"]').first();
  const [x, width] = await Promise.all(['x', 'width'].map(async (name) => Number(await red.getAttribute(name))));
  const box = (await strip.boundingBox())!;
  const before = await band.getAttribute('data-at');
  await page.mouse.click(box.x + (box.width * (x! + width! * 3)) / STRIP_WIDTH, box.y + box.height / 2);
  await expect(band).not.toHaveAttribute('data-at', before!);
  await expect(generated).toHaveText('generated for the demo');
  await expect(page.locator('main')).toContainText(HANGS);
  await expect(page.locator('main')).toContainText(/stuck/i);
  await expect(page.locator('[data-release]')).toHaveCount(0);
  await expectAccessible(page, 'a generated moment');

  await page.getByRole('link', { name: 'Board' }).first().click();
  await expect(page).toHaveURL(/\/\?at=\d+$/);
  await expect(generated).toBeVisible();
  await expect(page.locator('main')).toContainText(STUCK);

  await page.keyboard.press('l');
  await expect(page).toHaveURL(`${demo.url}/`);
  await expect(band).toHaveCount(0);
  await ui.isLive();
});

test('incidents of that hour say who made whom wait, with and without scripts', async ({ browser, page }) => {
  const list = `${demo.url}/incidents?q=${encodeURIComponent(STUCK)}`;
  await expect.poll(async () => (await page.request.get(list)).text(), { timeout: 30_000 }).toContain('session ended');
  await page.goto(list);
  const rows = page.getByTestId('incidents').locator('tbody tr');
  // The one of the generated hour is over.
  const over = rows.filter({ hasText: 'session ended' }).filter({ hasText: HANGS });
  await expect(over.first()).toBeVisible();
  for (const scheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await expectAccessible(page, `incidents, ${scheme}`);
  }
  await over.first().getByRole('link').first().click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${STUCK} was stuck for`);
  await expect(page.getByTestId('incident-lanes').locator('tr[data-is-root="true"]')).toContainText(HANGS);
  for (const scheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await expectAccessible(page, `an incident, ${scheme}`);
  }
  const address = page.url();
  const target = await page.getByRole('link', { name: 'Markdown' }).getAttribute('href');
  expect(await (await page.request.get(`${demo.url}${target}`)).text()).toContain('was stuck for');
  await page.getByTestId('incident-locks').getByRole('link').click();
  await expect(page.getByTestId('past-band')).toBeVisible();

  const phone = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
  const plain = await phone.newPage();
  for (const target of [`${demo.url}/incidents`, address]) {
    await plain.goto(target);
    await expect(plain.getByRole('heading', { level: 1 })).toBeVisible();
    expect(await plain.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  }
  await phone.close();
});
