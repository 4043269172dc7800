/** Parses events from a JSON ABI, or from lines of Solidity signatures and event hashes. */
import type { AbiItem } from '@sluice/kit';
import {
  findSignatureProblem,
  listAbi,
  findNearest,
  parseEvent,
  parseEventSignature,
  readAbi,
} from '@sluice/kit/contract';
import { isEvent } from '../draft.ts';
import { parseJson } from '../../../body/json.ts';
import { jsonProblem } from '../../../ui/form/jsonProblem.ts';
import { problemAt, type LineProblem } from '../../../ui/form/lineProblem.ts';

export interface ParsedEvents {
  /** Events that can be decoded: ABI items, and signatures that mark indexed parameters. */
  items: AbiItem[];
  /** Canonical signatures and hashes of events that can be matched, but not decoded. */
  signatures: string[];
  /**
   * Problems of invalid events, at their positions. A JSON ABI with a syntax error has only one
   * problem.
   */
  problems: LineProblem[];
  /**
   * Text to fix: the invalid events, or the entire JSON if it is not valid or if it contains no
   * events or an invalid one.
   */
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
    const full = lines.slice(index, index + count).join('\n');
    const code = full.replaceAll(/\/\/.*/g, ({ length }) => ' '.repeat(length)).trimEnd();
    const indent = code.length - code.trimStart().length;
    if (code !== '') {
      const problem = addEvent(found, code.trimStart());
      if (problem !== undefined) {
        found.problems.push(problemAt(text, from + indent + problem.at, problem.message));
        rest.push(full);
      }
    }
    index += count;
    from += full.length + 1;
  }
  return { ...found, rest: rest.join('\n') };
}

/** Maximum number of lines of one event, such as one with a parameter per line. */
const MAX_LINES = 64;

/**
 * Returns the number of lines of the event that starts at `first`, up to the line that closes its
 * parentheses; 1 if no line closes them.
 */
function linesOfEvent(lines: readonly string[], first: number): number {
  let depth = 0;
  for (let index = first; index < Math.min(lines.length, first + MAX_LINES); index++) {
    const line = (lines[index] ?? '').replace(/\/\/.*/, '');
    // The next event starts here, so the parentheses of this one were not closed.
    if (index > first && /^\s*event\s/.test(line)) return 1;
    depth += line.split('(').length - line.split(')').length;
    if (depth <= 0) return index - first + 1;
  }
  return 1;
}

/** Adds the event, or returns the problem if the text is not a valid event. */
function addEvent(
  { items, signatures }: ParsedEvents,
  text: string,
): { at: number; message: string } | undefined {
  const parsed = parseEventSignature(text);
  if (parsed === undefined) return wordsFor(text);
  const item = /\bindexed\b/.test(text) ? parseEvent(text) : undefined;
  if (item === undefined) signatures.push(parsed.signature ?? parsed.topic0);
  else items.push(item);
  return undefined;
}

/** Types to suggest for a misspelled type, most common first. */
const TYPES = [
  ...['address', 'uint256', 'bytes32', 'bool', 'string', 'bytes', 'int256'],
  ...['uint8', 'uint32', 'uint64', 'uint128', 'uint160', 'int24', 'tuple'],
];

/** Explains why a line is not an event, and how to fix it. */
function wordsFor(text: string): { at: number; message: string } {
  const other = /^(function|error|constructor|modifier|struct)\b/.exec(text)?.[1];
  if (other !== undefined) {
    return {
      at: 0,
      message: `Expected an event instead of “${other}”. Enter an event that the contract emits.`,
    };
  }
  const [hex] = /^0x[0-9a-f]*/i.exec(text) ?? [];
  if (hex?.length === 42) {
    return { at: 0, message: 'To add the events of a contract, enter only its address.' };
  }
  if (hex !== undefined) {
    return { at: 0, message: `An event hash has 64 digits; this one has ${hex.length - 2}.` };
  }
  const { at, found, expected } = findSignatureProblem(text) ?? {
    at: 0,
    found: text,
    expected: 'name',
  };
  const it = `“${found}”`;
  const say = (message: string) => ({ at, message });
  switch (expected) {
    case 'name':
      return say(`${it} is not a valid event name.`);
    case '(':
      return say(
        `Add the parameter types in parentheses, such as ${/^\w+/.exec(text)?.[0] ?? 'Transfer'}(address,uint256).`,
      );
    case ')':
      return say(
        found === ''
          ? 'A closing parenthesis is missing at the end.'
          : `A comma or a closing parenthesis is missing before ${it}.`,
      );
    case 'end':
      return say(
        found === ')'
          ? 'There is an extra closing parenthesis.'
          : `${it} follows the event. Put each event on its own line.`,
      );
    case 'less':
      return say('The event is longer than 4,096 characters.');
    case 'type':
      return say(found === '' || !/\w/.test(found) ? 'A type is missing here.' : noType(found));
  }
}

function noType(word: string): string {
  const it = `“${word}” is not a valid type`;
  if (/^u?int\d+$/.test(word)) return `${it}. Integers have 8 to 256 bits, in steps of 8.`;
  if (/^bytes\d+$/.test(word)) return `${it}. Use bytes, or bytes1 to bytes32.`;
  const meant = findNearest(word, TYPES);
  if (meant !== undefined) return `${it}. Did you mean ${meant}?`;
  return /^[A-Z]/.test(word)
    ? `${it}. Use address for a contract, uint8 for an enum, and (type,type) for a struct.`
    : `${it}. Use a type such as address, uint256 or bytes32.`;
}

function parseJsonAbi(text: string): ParsedEvents {
  const none = (problem: LineProblem): ParsedEvents => ({
    items: [],
    signatures: [],
    problems: [problem],
    rest: text,
  });
  const json = parseJson(text);
  if (json === null)
    return none(jsonProblem(text) ?? problemAt(text, 0, 'This is not valid JSON.'));
  const list = listAbi(json.value) ?? [];
  const { items, uncertain } = readAbi(list) ?? { items: [], uncertain: [] };
  const problems = uncertain.map(({ name = 'event', path: [n, ...path], message }) => {
    const item = list[Number(n)];
    const isLine = typeof item === 'string';
    const found = isLine ? item.trim() : `"${name}"`;
    const problem = isLine
      ? wordsFor(found)
      : { at: 1, message: `${name}: ${path.join('.')} ${message}.` };
    return problemAt(text, Math.max(0, text.indexOf(found)) + problem.at, problem.message);
  });
  const events = items.filter(isEvent);
  return events.length + problems.length === 0
    ? none(problemAt(text, 0, 'This JSON contains no events.'))
    : { items: events, signatures: [], problems, rest: problems.length === 0 ? '' : text };
}
