// What has the focus keeps it, and stays what it was, when something newer comes before it.

import { expect, test } from '../../support/fixtures.ts';

test('a past holder is still the one that was chosen when a newer one comes', async ({ ui, clients, place, page, problems }) => {
  problems.expectNotFound();
  const path = `${place}/orders`;
  const [a, b] = await clients.openAll('a', 'b');
  await ui.openLock(path);
  const first = await a!.hold(path);
  await expect(page.getByRole('main')).toContainText(first.session);
  await a!.release();
  const past = page.locator('.past-sides').getByRole('link');
  await past.filter({ hasText: first.session }).focus();

  const second = await b!.hold(path);
  await expect(page.getByRole('main')).toContainText(second.session);
  await b!.release();
  await expect(past).toHaveText([second.session, first.session]);
  await expect(past.filter({ hasText: first.session })).toBeFocused();
});

test('an event of a session is still the one that was chosen when newer ones come', async ({ ui, clients, lockscope, place, page }) => {
  const a = await clients.open('a');
  const held = await a.hold(`${place}/orders`);
  await lockscope.knows(`${place}/orders`, [held.node]);
  await ui.open(`/session?id=${held.session}`);
  const links = page.getByTestId('history').getByRole('link');
  await links.last().focus();

  await a.release();
  await a.hold(`${place}/payments`);
  await expect(links.first()).toHaveText(`${place}/payments`);
  await expect(links.last()).toBeFocused();
  await expect(links.last()).toHaveText(`${place}/orders`);
});

test('a wait is still the one that was chosen when an older one ends', async ({ ui, clients, lockscope, place, page }) => {
  const [holder, early, late] = await clients.openAll('holder', 'early', 'late');
  const places = [await holder!.hold(`${place}/orders`), await early!.queue(`${place}/orders`), await late!.queue(`${place}/orders`)];
  await lockscope.knows(`${place}/orders`, places.map(({ node }) => node));
  await ui.open('/waits');
  await page.getByText('Who waits for whom, longest first').click();
  const rows = page.getByTestId('waits').locator('tbody tr');
  await expect(rows.first()).toContainText('early');
  const chosen = rows.last().getByRole('link', { name: 'late' });
  await chosen.focus();

  await early!.close();
  await expect(rows.filter({ hasText: 'early' })).toHaveCount(0);
  await expect(chosen).toBeFocused();
});

type Held = { chosen: string; keys: string[]; rows: number; handOffs: number };

for (const [hold, what] of [['focus', 'has the focus'], ['select', 'is selected'], ['press', 'is pressed']] as const) {
  test(`who comes gets the row of who goes, but not that of a waiter that ${what}`, async ({ ui, page, madeUp }) => {
    const { url } = await madeUp('crowd');
    await page.setViewportSize({ width: 1280, height: 1400 });
    await ui.open(`${url}/lock?path=/order`);
    await ui.isLive();
    await expect(page.locator('.queue-places > *').first()).toHaveText('holds');
    // Some 14 rows below the first: that one is gone after a fifth of a second.
    const list = (await page.locator('.queue-body').boundingBox())!;
    await page.mouse.move(list.x + list.width / 2, list.y + 14.5 * 34);
    const looking = page.evaluate(
      (hold) =>
        new Promise<Held>(async (done) => {
          const lane = document.querySelector('.queue-body .lane')!;
          const keyOf = (node: Node | null | undefined) => (node instanceof Element ? node : node?.parentElement)?.closest<HTMLElement>('.contender')?.dataset.key;
          if (hold === 'press') {
            (window as unknown as { listens?: boolean }).listens = true;
            await new Promise((pressed) => addEventListener('pointerdown', () => setTimeout(pressed)));
          }
          const link = lane.querySelectorAll<HTMLElement>('.contender')[14]!.querySelector<HTMLElement>('a')!;
          if (hold === 'focus') link.focus({ preventScroll: true });
          if (hold === 'select') getSelection()!.selectAllChildren(link);
          const pressed = () => [...document.querySelectorAll('.contender:active')].at(-1);
          const held = () => keyOf({ focus: document.activeElement, select: getSelection()!.anchorNode, press: pressed() }[hold]);
          const chosen = held()!;
          const [keys, rows, heads] = [new Set<string>(), new Set<Element>(), new Set<string>()];
          let frames = 0;
          const look = () => {
            for (const row of lane.children) rows.add(row);
            const first = lane.querySelector<HTMLElement>('.contender')!.dataset.key!;
            heads.add(first);
            const key = held();
            if (key) keys.add(key);
            // It is gone, and long enough for its row to have come up again.
            const isGone = !lane.querySelector(`[data-key="${CSS.escape(chosen)}"]`);
            if (isGone) frames += 1;
            if (isGone && frames > 30 && heads.size > 80) done({ chosen, keys: [...keys], rows: rows.size, handOffs: heads.size });
            else requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        }),
      hold,
    );
    if (hold === 'press') {
      const isListening = () => page.evaluate(() => (window as unknown as { listens?: boolean }).listens);
      await expect.poll(isListening).toBe(true);
      await page.mouse.down();
    }
    const seen = await looking;
    if (hold === 'press') await page.mouse.up();
    expect(seen.chosen).toBeTruthy();
    expect(seen.keys, 'it is never another contender’s').toEqual([seen.chosen]);
    const drawn = await page.locator('.contender').count();
    expect(seen.rows, `rows made for ${seen.handOffs} hand-offs, of which ${drawn} are drawn`).toBeLessThan(drawn + 20);
  });
}
