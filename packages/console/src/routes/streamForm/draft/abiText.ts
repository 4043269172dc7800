/** Events as people have them: an ABI as JSON, or signatures as in Solidity. Pure. */
import type { AbiItem } from '@sluice/kit';
import { findSignatureProblem, parseEventSignature } from '@sluice/kit/contract';
import { parseAbiItem } from 'abitype';
import { isEvent } from './draft.ts';
import { parseJson } from '../../../body/json.ts';
import { jsonProblem } from '../../../ui/form/jsonProblem.ts';
import { problemAt, type LineProblem } from '../../../ui/form/lineProblem.ts';
import { nearest } from '../../../words/nearest.ts';

export interface ParsedEvents {
  /** With names and what is indexed: these can be decoded. */
  items: AbiItem[];
  /** Only what is matched: canonical text, or a hash. */
  signatures: string[];
  /** What is no event, by its place; where JSON is none, the first alone. */
  problems: LineProblem[];
  /** The lines that are no events, or the JSON that is none. */
  rest: string;
}

export function parseEvents(text: string): ParsedEvents {
  return /^\s*[[{]/.test(text) ? parseJsonAbi(text) : parseLines(text);
}

function parseLines(text: string): ParsedEvents {
  const found: ParsedEvents = { items: [], signatures: [], problems: [], rest: '' };
  const rest: string[] = [];
  const lines = text.split('\n');
  let from = 0;
  for (let index = 0; index < lines.length;) {
    const count = linesOfEvent(lines, index);
    const whole = lines.slice(index, index + count).join('\n');
    const code = whole.replaceAll(/\/\/.*/g, ({ length }) => ' '.repeat(length)).trimEnd();
    const indent = code.length - code.trimStart().length;
    if (code !== '') {
      const problem = addEvent(found, code.trimStart());
      if (problem !== undefined) {
        found.problems.push(problemAt(text, from + indent + problem.at, problem.message));
        rest.push(whole);
      }
    }
    index += count;
    from += whole.length + 1;
  }
  return { ...found, rest: rest.join('\n') };
}

/** Of one event; its parameters each on a line of its own. */
const MOST_LINES = 64;

/** As many as are needed to close the parentheses of the first one; one where they are never closed. */
function linesOfEvent(lines: readonly string[], first: number): number {
  let depth = 0;
  for (let index = first; index < Math.min(lines.length, first + MOST_LINES); index++) {
    const line = (lines[index] ?? '').replace(/\/\/.*/, '');
    // Another one begins: this one was not closed.
    if (index > first && /^\s*event\s/.test(line)) return 1;
    depth += line.split('(').length - line.split(')').length;
    if (depth <= 0) return index - first + 1;
  }
  return 1;
}

/** @returns why it is none. */
function addEvent(
  { items, signatures }: ParsedEvents,
  text: string,
): { at: number; message: string } | undefined {
  const parsed = parseEventSignature(text);
  if (parsed === undefined) return wordsFor(text);
  const item = /\bindexed\b/.test(text) ? parseHumanReadable(text) : undefined;
  if (item === undefined) signatures.push(parsed.signature ?? parsed.topic0);
  else items.push(item);
  return undefined;
}

function parseHumanReadable(text: string): AbiItem | undefined {
  const line = text.replace(/;$/, '').replaceAll(/\s+/g, ' ');
  try {
    const item: unknown = parseAbiItem(/^event\s/.test(line) ? line : `event ${line}`);
    return item as AbiItem;
  } catch {
    return undefined;
  }
}

/** What may be meant; the ones that are meant most first. */
const TYPES = [
  ...['address', 'uint256', 'bytes32', 'bool', 'string', 'bytes', 'int256'],
  ...['uint8', 'uint32', 'uint64', 'uint128', 'uint160', 'int24', 'tuple'],
];

/** What the text of a line is instead of an event, and what to do. */
function wordsFor(text: string): { at: number; message: string } {
  const other = /^(function|error|constructor|modifier|struct)\b/.exec(text)?.[1];
  if (other !== undefined) {
    return { at: 0, message: `This is a ${other}: name the event that the contract emits.` };
  }
  const [hex] = /^0x[0-9a-f]*/i.exec(text) ?? [];
  if (hex?.length === 42) {
    return { at: 0, message: 'An address stands alone: then the events of its contract are read.' };
  }
  if (hex !== undefined) {
    return { at: 0, message: `The hash of an event has 64 digits; this has ${hex.length - 2}.` };
  }
  const { at, found, expected } = findSignatureProblem(text) ?? {
    ...{ at: 0, found: text, expected: 'name' },
  };
  const it = `“${found}”`;
  const say = (message: string) => ({ at, message });
  switch (expected) {
    case 'name':
      return say(`${it} is no name of an event.`);
    case '(':
      return say(
        `The types of its parameters are missing in parentheses, such as ${/^\w+/.exec(text)?.[0] ?? 'Transfer'}(address,uint256).`,
      );
    case ')':
      return say(
        found === ''
          ? 'A closing parenthesis is missing at its end.'
          : `A comma or a closing parenthesis is missing before ${it}.`,
      );
    case 'end':
      return say(
        found === ')'
          ? 'There is a closing parenthesis too many.'
          : `${it} stands behind the event: each has a line of its own.`,
      );
    case 'less':
      return say('It is longer than 4,096 characters.');
    case 'type':
      return say(found === '' || !/\w/.test(found) ? 'A type is missing here.' : noType(found));
  }
}

function noType(word: string): string {
  const it = `“${word}” is no type`;
  if (/^u?int\d+$/.test(word)) return `${it}: integers have 8 to 256 bits, in steps of 8.`;
  if (/^bytes\d+$/.test(word)) return `${it}: it goes from bytes1 to bytes32, or is bytes.`;
  const meant = nearest(word, TYPES);
  if (meant !== undefined) return `${it}; did you mean ${meant}?`;
  return /^[A-Z]/.test(word)
    ? `${it} of an ABI: write address for a contract, uint8 for an enum, a struct as its types in parentheses.`
    : `${it} such as address, uint256 or bytes32.`;
}

function parseJsonAbi(text: string): ParsedEvents {
  const none = (problem: LineProblem): ParsedEvents => ({
    ...{ items: [], signatures: [], problems: [problem], rest: text },
  });
  const json = parseJson(text);
  if (json === null) return none(jsonProblem(text) ?? problemAt(text, 0, 'This is no JSON.'));
  const { value } = json;
  const inner: unknown =
    typeof value === 'object' && value !== null && 'abi' in value ? value.abi : value;
  const items: unknown[] = Array.isArray(inner) ? inner : [inner];
  const found: ParsedEvents = {
    items: items.filter((item): item is AbiItem => isRecord(item) && isEvent(item as AbiItem)),
    ...{ signatures: [], problems: [], rest: '' },
  };
  // As ethers and viem write it: signatures, functions among them.
  for (const item of items) {
    if (typeof item !== 'string' || !/^\s*event\s/.test(item)) continue;
    const line = item.trim();
    const problem = addEvent(found, line);
    if (problem === undefined) continue;
    const at = Math.max(0, text.indexOf(line)) + problem.at;
    found.problems.push(problemAt(text, at, problem.message));
    found.rest = text;
  }
  if (found.items.length + found.signatures.length + found.problems.length === 0) {
    return none(problemAt(text, 0, 'This is JSON, but there is no event in it.'));
  }
  return found;
}

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null;
