// Names and payloads that somebody else chose: shown as text, never run, never able to turn the page around.

import { expect, test } from '../../support/fixtures.ts';

const MARKUP = '<img src=x onerror="document.title=\'owned\'">';
const BIDI = 'evil\u202egnp.exe';
const SCRIPT = '</script><script>document.title="owned"</script>';
const LONG = 'long-'.repeat(60);

for (const [what, name] of [
  ['markup', `${MARKUP.replaceAll('/', '')}`],
  ['a direction override', BIDI],
  ['the end of a title', '</title><meta http-equiv="refresh" content="0;url=status">'],
  ['the end of a script', '<script>document.title="owned"<!--'],
  ['quotes and CSS', `"'];}*{display:none}`],
  ['a very long name', LONG],
  ['query characters', 'a&path=b?q=#x;y z'],
  ['a plus sign', 'a+b'],
  ['what looks like an escape', 'a%2Fb%26'],
] as const) {
  test(`a directory called with ${what} is shown as text`, async ({ ui, clients, lockscope, place, page }) => {
    const path = `${place}/${name}`;
    const client = await clients.open('owner');
    const held = await client.hold(path);
    await lockscope.knows(path, [held.node]);

    await ui.openBoard({ q: place });
    await expect(ui.lock(path)).toBeVisible();
    await expect(page.locator('img[src=x]')).toHaveCount(0);
    await expect(page).not.toHaveTitle('owned');
    await ui.lock(path).getByRole('link').first().click();
    await expect(page).toHaveURL((url) => url.searchParams.get('path') === path);
    await ui.hydrated();
    await ui.openTable();
    await expect(ui.contender(held.node)).toBeVisible();
    await expect(page.locator('img[src=x], meta[http-equiv]')).toHaveCount(0);
    await expect(page).not.toHaveTitle('owned');
    expect(await ui.overflow()).toBeLessThanOrEqual(0);

    // As the server writes the document, too: what a browser does before any script runs.
    await page.reload();
    await ui.hydrated();
    await expect(page.locator('meta[http-equiv]')).toHaveCount(0);
    await expect(page).toHaveTitle(new RegExp(place));
    await expect(page).toHaveURL((url) => url.searchParams.get('path') === path);
  });
}

for (const [what, data] of [
  ['markup', MARKUP],
  ['the end of a script', SCRIPT],
  ['control characters', 'a\u0000b\u0007c\u001b[31m\u2028'],
  ['a direction override', BIDI],
  ['a word without end', 'x'.repeat(5_000)],
] as const) {
  test(`a payload of ${what} is shown as text`, async ({ ui, clients, lockscope, place, page }) => {
    const path = `${place}/payload`;
    const client = await clients.open('owner');
    const made = await client.create(`${path}/lock-`, { data, ephemeral: true, sequence: true });
    const node = made.slice(made.lastIndexOf('/') + 1);
    await lockscope.knows(path, [node]);

    for (const open of [() => ui.openBoard({ q: place }), () => ui.openLock(path)]) {
      await open();
      await expect(page.getByText(path).first()).toBeVisible();
      await expect(page.locator('img[src=x]')).toHaveCount(0);
      await expect(page).not.toHaveTitle('owned');
      expect(await ui.overflow()).toBeLessThanOrEqual(0);
    }
    await expect(ui.contender(node)).toBeVisible();
  });
}

test('a name that turns direction does not turn its neighbours', async ({ ui, clients, lockscope, place }) => {
  const path = `${place}/${BIDI}`;
  const client = await clients.open(BIDI);
  const held = await client.hold(path);
  await lockscope.knows(path, [held.node]);

  await ui.openBoard({ q: place });
  // Either the character is not in the text at all (shown by its number), or each bit of text is isolated.
  const leaks = await ui.lock(path).evaluate((row) => {
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const isolation = text.parentElement ? getComputedStyle(text.parentElement).unicodeBidi : '';
      if (/[\u202a-\u202e\u2066-\u2069]/.test(text.textContent ?? '') && !/isolate|plaintext/.test(isolation)) found.push(text.textContent ?? '');
    }
    return found;
  });
  expect(leaks).toEqual([]);
});

for (const path of ['/', '/find']) {
  test(`on ${path} no text becomes a script, and none is loaded from elsewhere`, async ({ page, problems, javaScriptEnabled }) => {
    test.skip(javaScriptEnabled === false, 'nothing runs without scripts');
    problems.expect(/Trusted(Script|ScriptURL)|require-trusted-types-for/);
    await page.goto(path);
    const refused = await page.evaluate(() => {
      const script = document.createElement('script');
      const isRefused = (act: () => void) => {
        try {
          act();
          return false;
        } catch {
          return true;
        }
      };
      return [
        isRefused(() => (script.text = 'document.title = "owned"')),
        isRefused(() => (script.src = 'https://elsewhere.example/script.js')),
        isRefused(() => (script.src = '/pkg/script.js')),
      ];
    });
    expect(refused).toEqual([true, true, false]);
  });
}
