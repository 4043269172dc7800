/**
 * `npm run -s sample [-- COMMIT]`: prints a random sample of texts for an editor. The hash of the
 * last commit is the seed. With COMMIT, only files that changed since then are sampled.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readTexts } from './read.ts';

const COMMENTS = 100;
const STRINGS = 60;
const SECTIONS = 10;

/** Matches strings of several words, not names, class lists or parts of a query. */
const IS_SHOWN = /^\s*[A-Z][^<>=;{}]*\w [a-z]/;
/** Folders with strings that are shown in a browser or a terminal. */
const SHOWS = /^packages\/(console|cli)\/src\//;
const IS_TEST = /\.(test|test-d|test-only)\.tsx?$|^test\//;
const IS_GENERATED = /\.generated\.ts$/;

const git = (...args: string[]): string[] =>
  execFileSync('git', args, { encoding: 'utf8' }).trim().split('\n');

const [since] = process.argv.slice(2);
const [seed = ''] = git('rev-parse', 'HEAD');
const files =
  since === undefined
    ? git('ls-files')
    : git('diff', '--name-only', '--diff-filter=d', since, 'HEAD');
const sources = files.filter((name) => /\.tsx?$/.test(name) && !IS_GENERATED.test(name));
const pages = files.filter((name) => /^(docs\/.*|[A-Z]+)\.md$/.test(name));

const texts = sources.flatMap((name) =>
  readTexts(name, readFileSync(name, 'utf8')).map((text) => ({ ...text, name })),
);
const comments = texts.filter(({ kind, text }) => kind === 'comment' && text.includes(' '));
const strings = texts.filter(
  ({ kind, name, text }) =>
    kind === 'string' && SHOWS.test(name) && !IS_TEST.test(name) && IS_SHOWN.test(text),
);
const sections = pages.flatMap((name) =>
  readFileSync(name, 'utf8')
    .split(/^(?=#{1,3} )/m)
    .filter((text) => text.trim().includes('\n'))
    .map((text) => ({ name, line: 0, text })),
);

/**
 * Draws items by a hash of the seed and each item's file, line and text, so that a commit always
 * has the same sample.
 */
function draw<Item extends { name: string; line: number; text: string }>(
  items: readonly Item[],
  count: number,
): Item[] {
  const rank = ({ name, line, text }: Item): string =>
    createHash('sha256').update(`${seed} ${name} ${line} ${text}`).digest('hex');
  return items
    .map((item) => ({ item, rank: rank(item) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ item }) => item);
}

process.stdout.write(`seed ${seed}\n`);
for (const [title, drawn] of [
  ['Comments', draw(comments, COMMENTS)],
  ['Strings', draw(strings, STRINGS)],
  ['Sections', draw(sections, SECTIONS)],
] as const) {
  process.stdout.write(`\n## ${title}\n\n`);
  for (const [index, { name, line, text }] of drawn.entries())
    process.stdout.write(
      `${index + 1}. ${name}${line > 0 ? `:${line}` : ''}\n   ${text.replaceAll('\n', '\n   ')}\n`,
    );
}
