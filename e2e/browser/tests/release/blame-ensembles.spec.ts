// Who made others wait, by ensemble: two chroots of one ZooKeeper, with and without scripts, on a phone, accessible.

import { expectAccessible } from '../../support/axe.ts';
import { expect, test } from '../../support/fixtures.ts';
import { expectByKeyboard } from '../../support/keyboard.ts';
import { Lockscope } from '../../support/lockscope.ts';
import { expectMarked } from '../../support/marks.ts';
import { until } from '../../support/until.ts';

const NAMES = ['payments', 'search'];

test('blame by ensemble is of all of them, on every screen', async ({ zookeeper, caretaker, clients, browser, page }, info) => {
  const tables = NAMES.map((name) => `[[ensemble]]\nname = "${name}"\nzk = "${zookeeper.hosts}/blamed-${name}"\n`);
  for (const name of NAMES) await caretaker.create(`/blamed-${name}`);
  const server = await Lockscope.serveEnsembles(tables.join(''));
  try {
    const link = async () => ((await (await fetch(`${server.url}/api/v1/status`)).json()) as { ensembles: { link: string }[] }).ensembles;
    await until('both are live', 60_000, async () => (await link()).every(({ link }) => link === 'live') && (await link()).length === NAMES.length);
    const [anna, bert] = await clients.openAll('anna', 'bert');
    for (const name of NAMES) {
      await anna!.hold(`/blamed-${name}/orders`);
      await bert!.queue(`/blamed-${name}/orders`);
      await anna!.release();
      await bert!.held();
      await bert!.release();
    }
    const address = `${server.url}/blame?by=ensemble`;
    const text = async () => (await page.request.get(address)).text();
    for (const name of NAMES) await expect.poll(text).toContain(`>${name}</bdi>`);
    await page.goto(address);
    const rows = page.getByTestId('blame').locator('tbody tr');
    await expect(rows).toHaveCount(NAMES.length);
    await expect(page.getByTestId('blame').locator('thead th').first()).toHaveText('Ensemble');
    await expect(page.getByTestId('blame-lead')).toContainText(/In the ensemble (payments|search) most was waited for holders/);
    for (const scheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await expectAccessible(page, `blame by ensemble, ${scheme}`);
    }
    await page.screenshot({ path: info.outputPath('blame-ensembles.png'), fullPage: true });
    await expectMarked(page, 'main', 'blame by ensemble');
    await expectByKeyboard(page, 'blame by ensemble');
    const phone = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
    const plain = await phone.newPage();
    await plain.goto(address);
    await expect(plain.getByTestId('blame').locator('tbody tr')).toHaveCount(NAMES.length);
    expect(await plain.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await plain.screenshot({ path: info.outputPath('blame-ensembles-phone.png'), fullPage: true });
    await phone.close();
  } finally {
    await page.close();
    await server.kill();
    for (const name of NAMES) await caretaker.delete(`/blamed-${name}`);
  }
});
