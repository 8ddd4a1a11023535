// A list of plain rows that changes as a queue does, without Lockscope: no framework, no socket, nothing around it. What a
// browser needs for this page it needs for any page that shows the same, so `frames.spec.ts` measures it beside ours.

/** Rows of the whole list. */
const LENGTH = 10_000;

const STYLE = `
  * { box-sizing: border-box; margin: 0 }
  body { font: 14px/1.45 system-ui, sans-serif; padding: 16px }
  #space { height: 420px }
  #list { position: relative; contain: strict; height: ${LENGTH * 34}px; border: 1px solid #ddd }
  .row { position: absolute; inset: 0 0 auto; contain: strict; height: 34px; display: grid; align-items: center; column-gap: 16px; padding: 0 14px; border-bottom: 1px solid #ddd;
    grid-template-columns: 51px minmax(144px, 1.35fr) 86px minmax(224px, 1.5fr) 112px minmax(152px, 1fr) 192px }
  .row > span { white-space: nowrap; overflow: hidden; text-overflow: ellipsis }`;

/** The head leaves each 20 ms; a frame then writes each row's number and place, takes a row away and adds one. Ages are
 *  written each second. */
const SCRIPT = `
  const list = document.getElementById('list'), rows = new Map(), ROW = 34, SPARE = 6;
  let gone = 0, due = true, seconds = 0;
  const make = (key) => {
    const row = document.createElement('div');
    row.className = 'row';
    for (const text of ['', 'lock-' + String(key).padStart(10, '0'), String(key), '0x10000a1b2c' + (key % 4096).toString(16) + ' worker-' + key % 97, seconds + ' s', 'lock-' + String(key - 1).padStart(10, '0'), 'connected']) {
      row.appendChild(document.createElement('span')).append(text);
    }
    return { row, place: row.children[0].firstChild, age: row.children[4].firstChild };
  };
  const draw = () => {
    const top = list.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(-top / ROW) - SPARE), end = Math.min(${LENGTH}, Math.ceil((innerHeight - top) / ROW) + SPARE);
    for (const [key, { row }] of rows) if (key < gone + first || key >= gone + end) { row.remove(); rows.delete(key); }
    for (let at = first; at < end; at++) {
      let one = rows.get(gone + at);
      if (!one) { one = make(gone + at); rows.set(gone + at, one); list.append(one.row); }
      const place = at === 0 ? 'holds' : String(at);
      if (one.place.data !== place) { one.place.data = place; one.row.style.transform = 'translateY(' + at * ROW + 'px)'; }
    }
  };
  const frame = () => { if (due) { due = false; draw(); } requestAnimationFrame(frame); };
  addEventListener('scroll', () => { due = true; });
  if (CHANGES) setInterval(() => { gone++; due = true; }, 20);
  setInterval(() => { seconds++; for (const { age } of rows.values()) age.data = seconds + ' s'; }, 1000);
  requestAnimationFrame(frame);`;

/** The page; with `isStill` its rows change only when they are scrolled. */
export function bareList(isStill = false): string {
  return `<!doctype html><meta charset="utf-8"><title>Bare list</title><style>${STYLE}</style><div id="space"></div><div id="list"></div><script>const CHANGES = ${!isStill};${SCRIPT}</script>`;
}
