import { problemAt, type LineProblem } from './lineProblem.ts';

/** A text as JSON, or null where it is none. */
export function parseJson(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

const SPACE = /[ \t\r\n]*/y;
// oxlint-disable-next-line no-control-regex -- JSON has none of them in a text
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const WORD =
  /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?![\w.+-])/y;
/** What is shown of something that is wrong. */
const SHOWN = /[\w.$+-]{1,40}|./uy;

type Expected = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma' | 'end';

/**
 * Where the text is no longer JSON, in words that every browser has; undefined where `JSON.parse` takes it.
 */
export function jsonProblem(text: string): LineProblem | undefined {
  /** What closes the objects and lists that are open. */
  const closing: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  const read = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  for (;;) {
    at += read(SPACE)?.length ?? 0;
    const sign = text[at];
    const token = read(sign === '"' ? STRING : WORD);
    const isName: boolean = expected === 'name' || expected === 'first name';
    const isValue: boolean = expected === 'value' || expected === 'first value';
    const mayClose = expected !== 'value' && expected !== 'name' && expected !== 'colon';
    if (sign === undefined && expected === 'end') return undefined;
    if (sign !== undefined && mayClose && sign === closing.at(-1)) {
      closing.pop();
      expected = closing.length === 0 ? 'end' : 'comma';
      at += 1;
    } else if (isValue && (sign === '{' || sign === '[')) {
      closing.push(sign === '{' ? '}' : ']');
      expected = sign === '{' ? 'first name' : 'first value';
      at += 1;
    } else if (token !== undefined && (isValue || (isName && sign === '"'))) {
      expected = isName ? 'colon' : closing.length === 0 ? 'end' : 'comma';
      at += token.length;
    } else if (expected === 'colon' && sign === ':') {
      expected = 'value';
      at += 1;
    } else if (expected === 'comma' && sign === ',') {
      expected = closing.at(-1) === '}' ? 'name' : 'value';
      at += 1;
    } else {
      const end = closing.at(-1);
      return problemAt(text, at, `${wordsFor(expected, read(SHOWN), end)}.`);
    }
  }
}

/** What is wrong with that standing where this was expected; undefined stands for the end of the text. */
function wordsFor(expected: Expected, found: string | undefined, end: string | undefined): string {
  const it = `“${found}”`;
  if (found === undefined) {
    return end === undefined ? 'There is nothing yet' : `It ends here, and a ${end} is missing`;
  }
  if (found === '"') return 'The text that begins here has no end, or a \\ that means nothing';
  if (found === "'") return 'Texts stand in double quotes';
  if (/[}\]]/.test(found)) {
    if (end === undefined) return `${it} closes nothing`;
    if (found !== end) return `${it} stands where ${end} closes`;
    return end === '}' && expected !== 'name'
      ? `A value is missing before ${it}`
      : `There is a comma too many before ${it}`;
  }
  switch (expected) {
    case 'end':
      return `${it} stands behind the end`;
    case 'colon':
      return `A colon is missing before ${it}`;
    case 'comma':
      return `A comma is missing before ${it}`;
    case 'name':
    case 'first name':
      return `${it} is no name: names stand in double quotes`;
    case 'value':
    case 'first value':
      return `${it} is no value: texts stand in double quotes`;
  }
}
