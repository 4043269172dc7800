/** Compares the observed Aptos functions and events with the lines of the form. */
import type { ObservedMovePath } from '@sluice/kit/sluice';
import { shortenMovePath, toMovePath } from '@sluice/kit/contract';
import { linesOf } from '../../../routes/streamForm/draft/draft.ts';
import { movePathProblems } from '../problems.ts';
import { rowsOf, type Observed } from '../../../routes/streamForm/dryRun/observed.ts';

export interface PathCount {
  /**
   * Path as the service writes it: addresses from `0x0` to `0xf` are short, others have 64 digits.
   */
  path: string;
  count: number;
}

/**
 * Returns the unique valid paths in the field, in order, and the observed paths that are not in the
 * field, each with its count.
 */
export function countPaths(
  observed: Observed,
  kind: ObservedMovePath['kind'],
  text: string,
): { listed: PathCount[]; offered: PathCount[] } {
  const counts = new Map(
    rowsOf(observed)
      .flatMap(({ entries }) => entries)
      .filter((each) => 'path' in each)
      .filter((each) => each.kind === kind)
      .map(({ path, count }) => [path, count]),
  );
  const paths = new Set(validPaths(text));
  return {
    listed: [...paths].map((path) => ({ path, count: counts.get(path) ?? 0 })),
    offered: [...counts].flatMap(([path, count]) => (paths.has(path) ? [] : [{ path, count }])),
  };
}

/**
 * Returns the paths with type arguments, which the service counts separately only if they are
 * selected.
 */
export const separatelyCountedPaths = (text: string): string[] =>
  validPaths(text).filter((path) => path.endsWith('>'));

/** Adds a path as a new line. */
export const withPath = (text: string, path: string): string =>
  text === '' || text.endsWith('\n') ? text + path : `${text}\n${path}`;

/**
 * Removes the lines that contain the path, with short or full addresses. Other lines stay
 * unchanged.
 */
export const withoutPath = (text: string, path: string): string =>
  text
    .split('\n')
    .filter((line) => toShortPath(line) !== toShortPath(path))
    .join('\n');

const validPaths = (text: string): string[] =>
  linesOf(text)
    .filter((line) => movePathProblems(line).length === 0)
    .map(toShortPath);

/** Converts a path to the form in which the service writes it. */
const toShortPath = (path: string): string => shortenMovePath(toMovePath(path));
