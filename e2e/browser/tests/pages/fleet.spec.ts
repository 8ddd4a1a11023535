// The fleet page over several ensembles, which are chroots of one ZooKeeper: with and without scripts, by keyboard, on a
// phone, and without anything that accessibility checks find serious.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';
import { Lockscope } from '../../support/lockscope.ts';
import { until } from '../../support/until.ts';

const ENSEMBLES = [
  ['payments', 'env = "prod", region = "eu"'],
  ['search', 'env = "prod", region = "us"'],
  ['staging', 'env = "test"'],
] as const;

const fleet = test.extend<object, { many: Lockscope }>({
  many: [
    async ({ zookeeper, caretaker }, use) => {
      const tables = [];
      for (const [name, labels] of ENSEMBLES) {
        await caretaker.create(`/fleet-${name}`);
        await caretaker.create(`/fleet-${name}/order`);
        await caretaker.create(`/fleet-${name}/order/lock-`, { ephemeral: true, sequence: true });
        tables.push(`[[ensemble]]\nname = "${name}"\nzk = "${zookeeper.hosts}/fleet-${name}"\nlabels = { ${labels} }\n`);
      }
      // Nobody listens there.
      tables.push('[[ensemble]]\nname = "lost"\nzk = "127.0.0.1:1"\n');
      const server = await Lockscope.serveEnsembles(tables.join(''));
      await until('three are live', 60_000, async () => {
        const { not_live: notLive } = (await (await fetch(`${server.url}/api/v1/fleet`)).json()) as { not_live: number };
        return notLive === 1;
      });
      await use(server);
      await server.kill();
      for (const [name] of ENSEMBLES) await caretaker.delete(`/fleet-${name}`);
    },
    { scope: 'worker', timeout: 120_000 },
  ],
});

for (const javaScriptEnabled of [true, false]) {
  fleet.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    fleet.use({ javaScriptEnabled });

    fleet('tiles stand worst first, and labels filter', async ({ page, many }) => {
      await page.goto(`${many.url}/fleet`);
      const names = page.locator('.fleet-name');
      await expect(names).toHaveText(['lost', 'payments', 'search', 'staging']);
      await expect(page.getByTestId('fleet-lead')).toContainText('4 ensembles, the worst first. 1 of them is not live');
      await page.getByTestId('fleet-labels').getByRole('link', { name: /env: prod/ }).click();
      await expect(page).toHaveURL(/\/fleet\?label=env%3Aprod$/);
      await expect(names).toHaveText(['payments', 'search']);
      await page.locator('[data-name="search"]').getByRole('link', { name: 'region: us' }).click();
      await expect(names).toHaveText(['search']);
      await page.getByTestId('fleet-all').click();
      await expect(names).toHaveCount(4);
      await page.getByRole('textbox', { name: 'Ensemble' }).fill('stag');
      await page.keyboard.press('Enter');
      await expect(names).toHaveText(['staging']);
      await page.locator('.fleet-name a').click();
      await expect(page).toHaveURL(/\/\?ensemble=staging/);
      await page.close();
    });

    fleet('search finds locks of every ensemble', async ({ page, many }) => {
      await page.goto(`${many.url}/fleet`);
      await page.getByRole('textbox', { name: 'Lock' }).fill('order');
      await page.keyboard.press('Enter');
      await expect(page).toHaveURL(/\/find\?q=order/);
      for (const [name] of ENSEMBLES) await expect(page.getByRole('main')).toContainText(name);
      await page.close();
    });
  });
}

for (const [colorScheme, width] of [['dark', 1440], ['light', 1440], ['dark', 390], ['light', 390]] as const) {
  fleet(`nothing serious and nothing cut off, ${colorScheme}, ${width} px`, async ({ page, many, javaScriptEnabled }, info) => {
    fleet.skip(javaScriptEnabled === false, 'axe is a script');
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${many.url}/fleet`);
    await expect(page.locator('.fleet-tile')).toHaveCount(4);
    await expectAccessible(page, `the fleet page, ${colorScheme}`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBe(0);
    await info.attach('fleet', { body: await page.screenshot({ fullPage: true, path: info.outputPath(`fleet-${colorScheme}-${width}.png`) }), contentType: 'image/png' });
    await page.close();
  });
}

fleet('the header leads there where there are several ensembles', async ({ page, many, lockscope }) => {
  await page.goto(many.url);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Fleet' }).click();
  await expect(page).toHaveURL(/\/fleet$/);
  await page.goto(lockscope.url);
  await expect(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Fleet' })).toHaveCount(0);
});
