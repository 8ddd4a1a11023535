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
