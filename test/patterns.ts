/**
 * Reads the regular expressions in the packages. An analyzer checks whether they run in linear
 * time, and finds the strings that make them backtrack the most.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSafePattern } from 'redos-detector';
import { parseSync } from 'vite';

export interface Pattern {
  /** First occurrence, such as `packages/kit/src/x.ts:12`. */
  place: string;
  source: string;
  flags: string;
}

/** A pattern that is built at run time, so the analyzer cannot check it. */
export interface UnknownPattern {
  place: string;
  code: string;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const IS_PRODUCT = /\.tsx?$/;
const IS_TEST = /\.(test|test-d|test-only)\./;
/**
 * Maximum number of ways (paths) in which a pattern may match one string. A linear pattern has only
 * a few.
 */
const MAX_PATHS = 100;
const TIMEOUT_MS = 20_000;

type Node = Record<string, unknown> & { type: string; start: number; end: number };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;

/**
 * Returns every distinct pattern in the sources of the packages, and the calls to `RegExp` that
 * build a pattern at run time.
 */
export function readPatterns(): { patterns: Pattern[]; unknown: UnknownPattern[] } {
  const patterns = new Map<string, Pattern>();
  const unknown: UnknownPattern[] = [];
  for (const file of readSources()) {
    const text = readFileSync(file, 'utf8');
    const placeOf = ({ start }: Node): string =>
      `${relative(ROOT, file)}:${text.slice(0, start).split('\n').length}`;
    const add = (node: Node, source: string, flags: string): void => {
      const key = `/${source}/${flags}`;
      if (!patterns.has(key)) patterns.set(key, { place: placeOf(node), source, flags });
    };
    visit(parseSync(file, text).program, (node) => {
      const literal = node['regex'] as { pattern: string; flags: string } | undefined;
      if (literal !== undefined) add(node, literal.pattern, literal.flags);
      if (!isRegExpCall(node)) return;
      const [source, flags] = (node['arguments'] as Node[]).map(textOf);
      if (source === undefined)
        unknown.push({ place: placeOf(node), code: text.slice(node.start, node.end) });
      else add(node, source, flags ?? '');
    });
  }
  return { patterns: [...patterns.values()], unknown };
}

/** Returns why a pattern may take superlinear time, or undefined if it is linear. */
export function findFault(pattern: Pattern): string | undefined {
  const { safe, error, score } = analyze(pattern);
  if (safe) return undefined;
  const paths = score.infinite ? 'any number of' : score.value;
  return `${pattern.place} /${pattern.source}/${pattern.flags} has ${paths} paths (${error})`;
}

function analyze({ source, flags }: Pattern) {
  // The analyzer's parser accepts named groups only with the flag `u`.
  const unnamed = source.replaceAll(/\(\?<[A-Za-z]\w*>/g, '(');
  // A sticky pattern matches only at `lastIndex`, as if it began with `^`.
  const anchored = flags.includes('y') ? `^(?:${unnamed})` : unnamed;
  const caseInsensitive = flags.includes('i');
  return isSafePattern(anchored, {
    caseInsensitive,
    // The analyzer does not support `u` together with `i`. Without `u`, it reads a surrogate pair
    // as two characters.
    unicode: flags.includes('u') && !caseInsensitive,
    dotAll: flags.includes('s'),
    multiLine: flags.includes('m'),
    maxScore: MAX_PATHS,
    timeout: TIMEOUT_MS,
  });
}

function readSources(): string[] {
  const packages = join(ROOT, 'packages');
  return readdirSync(packages).flatMap((name) => {
    const folder = join(packages, name, 'src');
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => IS_PRODUCT.test(file) && !IS_TEST.test(file))
      .map((file) => join(folder, file));
  });
}

function visit(node: unknown, look: (node: Node) => void): void {
  if (Array.isArray(node)) for (const each of node) visit(each, look);
  if (!isNode(node)) return;
  look(node);
  for (const each of Object.values(node)) if (typeof each === 'object') visit(each, look);
}

const isRegExpCall = (node: Node): boolean =>
  /^(New|Call)Expression$/.test(node.type) && (node['callee'] as Node)['name'] === 'RegExp';

/**
 * Returns the text of a string, or of a template without expressions; undefined for other nodes.
 */
function textOf(node: Node): string | undefined {
  if (typeof node['value'] === 'string') return node['value'];
  const quasis = node['quasis'] as { value: { cooked: string } }[] | undefined;
  return quasis?.length === 1 ? quasis[0]!.value.cooked : undefined;
}
