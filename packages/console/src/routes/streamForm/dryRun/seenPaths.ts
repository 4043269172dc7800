/** Which functions and events of Aptos the watched addresses had, beside the lines of a form. Pure. */
import type { SeenMovePath } from '@sluice/kit/sluice';
import { shortenMovePath, toMovePath } from '@sluice/kit/contract';
import { linesOf } from '../draft/draft.ts';
import { movePathProblems } from '../draft/problems.ts';
import { rowsOf, type Seen } from './seen.ts';

export interface PathCount {
  /** Special addresses short, others with 64 digits. */
  path: string;
  count: number;
}

/** Those of a text, each once and in its order, also what was not seen; then what else was seen. */
export function countPaths(
  seen: Seen,
  kind: SeenMovePath['kind'],
  text: string,
): { listed: PathCount[]; offered: PathCount[] } {
  const counts = new Map(
    rowsOf(seen)
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

/** Of a text those that the service counts only where they are named: types with generic arguments. */
export const pathsCountedApart = (text: string): string[] =>
  validPaths(text).filter((path) => path.endsWith('>'));

/** The text with one line more. */
export const withPath = (text: string, path: string): string =>
  text === '' || text.endsWith('\n') ? text + path : `${text}\n${path}`;

/** The text without the lines that name the path, however they spell it; the others stay as they are. */
export const withoutPath = (text: string, path: string): string =>
  text
    .split('\n')
    .filter((line) => toShortPath(line) !== toShortPath(path))
    .join('\n');

const validPaths = (text: string): string[] =>
  linesOf(text)
    .filter((line) => movePathProblems(line).length === 0)
    .map(toShortPath);

/** As the service spells what it has seen. */
const toShortPath = (path: string): string => shortenMovePath(toMovePath(path));
