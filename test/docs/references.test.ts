/**
 * Checks that files named in comments and pages exist, and that comments cite sections of published
 * documents only.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const find = (patterns: string[]): string[] =>
  globSync(patterns, { cwd: root, exclude: (name) => /node_modules|^dist$|\.next/.test(name) });
const FILES = find(['**/*.{ts,tsx,mts,mjs,js,md,sql,css,yml,yaml,json}', '.ci/run']);
const SOURCES = find(['{packages,bench,test,scripts,examples}/**/*.{ts,tsx,mjs}']);
const PAGES = find(['*.md', '{docs,examples,packages,bench}/**/*.md']);

/** Matches the name of a file in backticks, with all, part or none of its path. */
const NAMED_FILE = /`([\w./-]*\w\.(?:ts|tsx|mjs|md))`/g;
const CHAPTER = /\b(?:sections?|chapters?) \d|§|\.md,? \d/;
/** Published documents, whose sections comments may cite. */
const PUBLISHED = /\b(?:RFC|EIP|ERC|ENSIP|BIP) ?-?\d|yellow paper|BLAKE|Unicode/i;
/** Named files that are not in the repository: users create them, or tests and builds do. */
const NOT_OURS = new Set(['soak-STORE-N.md', 'app/webhooks/route.ts', 'THIRD-PARTY.md']);

const isThere = (name: string): boolean => {
  const path = name.replace(/^(?:\.{1,2}\/)+/, '');
  return NOT_OURS.has(name) || FILES.some((file) => file === path || file.endsWith(`/${path}`));
};
const unknownIn = (text: string): string[] =>
  [...text.matchAll(NAMED_FILE)].flatMap(([, name = '']) => (isThere(name) ? [] : [name]));

const comments = SOURCES.flatMap((file) =>
  parseSync(file, readFileSync(root + file, 'utf8')).comments.map(({ value }) => ({
    file,
    text: value.replaceAll(/\s*\n\s*\*?\s*/g, ' '),
  })),
);

test('comments name existing files', () => {
  expect(comments.length).toBeGreaterThan(3_000);
  expect(comments.flatMap(({ file, text }) => unknownIn(text).map((name) => [file, name]))).toEqual(
    [],
  );
});

test('comments cite sections of published documents only', () => {
  const strangers = comments.filter(({ text }) => CHAPTER.test(text) && !PUBLISHED.test(text));
  expect(strangers).toEqual([]);
});

test.each(PAGES)('%s names existing files', (page) => {
  expect(unknownIn(readFileSync(root + page, 'utf8'))).toEqual([]);
});

test('the check detects missing files and foreign sections', () => {
  expect(unknownIn('see `docs/nowhere.md` and `store/nowhere.ts`, not `docs/contract.md`')).toEqual(
    ['docs/nowhere.md', 'store/nowhere.ts'],
  );
  expect(CHAPTER.test('as in section 4.3')).toBe(true);
  expect(CHAPTER.test('(architecture.md 6.3)')).toBe(true);
  expect(PUBLISHED.test('as in section 4.3')).toBe(false);
});
