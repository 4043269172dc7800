/**
 * Searches of webhook bodies: text, or a path such as `$.logs[*].address`, optionally followed by
 * `=` and a value.
 */

/** Maximum length of a search of bodies, in characters. */
export const MAX_BODY_QUERY_LENGTH = 300;

/** A key of an object, an index of a list from 0, or each entry of a list or an object. */
export type PathStep = string | number | typeof EACH;

export const EACH = Symbol('each');

export type BodyQuery =
  /** A part of the JSON text. */
  | { text: string }
  /** A path that exists and, if `value` is given, has this value. */
  | { path: [PathStep, ...PathStep[]]; value?: string };

/** A step of a path, at its start. Keys and indexes are shorter than a search. */
const STEP = /^(?:\.([\w-]{1,300}|\*)|\[(\d{1,6}|\*)\])/;

/**
 * Reads a search of bodies. Text that starts with `$` is a path; a value in double quotes is JSON.
 * Returns undefined for an invalid path or value, and for empty text.
 */
export function readBodyQuery(query: string): BodyQuery | undefined {
  const text = query.trim();
  if (text === '') return undefined;
  if (!text.startsWith('$')) return { text };
  const steps: PathStep[] = [];
  let rest = text.slice(1);
  for (let step = STEP.exec(rest); step !== null; step = STEP.exec(rest)) {
    const [whole, key, index] = step;
    const isEach = (key ?? index) === '*';
    steps.push(isEach ? EACH : (key ?? Number(index)));
    rest = rest.slice(whole.length);
  }
  const [first, ...others] = steps;
  if (first === undefined) return undefined;
  const path: [PathStep, ...PathStep[]] = [first, ...others];
  const given = rest.trimStart();
  if (given === '') return { path };
  if (!given.startsWith('=')) return undefined;
  const value = readValue(given.slice(1).trimStart());
  return value === undefined ? undefined : { path, value };
}

function readValue(given: string): string | undefined {
  if (!given.startsWith('"')) return given === '' ? undefined : given;
  try {
    const value: unknown = JSON.parse(given);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns text in which A to Z are lowercase. */
export const toLowerAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/**
 * Returns whether the document has the path and, if given, the value there. Compares strings,
 * numbers, booleans and null as text, and ignores the case of a to z.
 */
export function matchesPath(
  document: unknown,
  { path, value }: Extract<BodyQuery, { path: unknown }>,
): boolean {
  const wanted = value && toLowerAscii(value);
  const holds = (at: unknown): boolean =>
    wanted === undefined ||
    (typeof at === 'string'
      ? toLowerAscii(at) === wanted
      : (typeof at !== 'object' || at === null) && String(at) === wanted);
  const walk = (at: unknown, depth: number): boolean => {
    const step = path[depth];
    if (step === undefined) return holds(at);
    if (typeof at !== 'object' || at === null) return false;
    if (step === EACH) return Object.values(at).some((each) => walk(each, depth + 1));
    const isKey = Array.isArray(at) === (typeof step === 'number');
    return (
      isKey && Object.hasOwn(at, step) && walk((at as Record<PathStep, unknown>)[step], depth + 1)
    );
  };
  return walk(document, 0);
}
