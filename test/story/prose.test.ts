/**
 * Tests that `npm run prose` reads comments, strings, JSX and pages, and finds phrases and words to
 * avoid.
 */
import { expect, test } from 'vitest';
import { findPhrases } from '../../scripts/prose/patterns.ts';
import { readTexts } from '../../scripts/prose/read.ts';
import { findWords } from '../../scripts/prose/words.ts';

const phrasesOf = (comment: string): string[] =>
  findPhrases([{ line: 1, kind: 'comment', text: comment }]).map(({ message }) => message);
const wordsOf = async (page: string): Promise<string[]> =>
  (await findWords(readTexts('page.md', page))).map(({ line, message }) => `${line} ${message}`);

test('the check reads comments, strings and JSX', () => {
  const source = `/**\n * Reads a key.\n * Twice.\n */\nconst a = 'it\\'s'; // why\nconst b = <p>Hello</p>;\n`;
  expect(readTexts('a.tsx', source)).toEqual([
    { line: 1, kind: 'comment', text: 'Reads a key. Twice.' },
    { line: 5, kind: 'comment', text: 'why' },
    { line: 5, kind: 'string', text: "it's" },
    { line: 6, kind: 'string', text: 'Hello' },
  ]);
});

test('the check skips names in code', () => {
  const source = "import './told.ts';\nrun('nobody');\nfail('No user `nobody`');\n// `told`\n";
  expect(findPhrases(readTexts('a.ts', source))).toEqual([]);
});

test('the check skips code and quotations on a page', async () => {
  const page = 'Run `told`.\n```sh\nnobody postgres\n```\nIt reports "nobody has Postgres".\n';
  const texts = readTexts('page.md', page);
  expect(findPhrases(texts)).toEqual([]);
  expect(await findWords(texts)).toEqual([]);
  expect(texts).toHaveLength(page.split('\n').length);
});

test.each([
  ['Of a chain the newest block', 'Of'],
  ['It stands in the ledger', 'stands'],
  ['This is no key of ours', 'is no key'],
  ['The block was held against it', 'held against'],
  ['Spared receivers', 'Spared'],
  ['The facets of a filter', 'facets'],
  ['Returns e.g. `1 address`', 'Returns e.g.'],
  ['Absent: a free port', 'Absent:'],
  ['Compares those texts', 'those texts'],
  ['Secret; default: that of the service', 'default: that of'],
  ['Rows cannot be read any more', 'any more'],
  ['In error for this long', 'for this long'],
  ['Names in lower case', 'lower case'],
  ['The behaviour of a sink', 'behaviour'],
  ['The format is recognised', 'recognis'],
  ['The query is given up', 'is given up'],
  ['Pauses for this time', 'for this time'],
  ["This is not the node's fault", "node's fault"],
  ["Waits by the contract's schedule", "contract's schedule"],
])('the check finds a phrase in "%s"', (text, phrase) => {
  expect(phrasesOf(text)).toContainEqual(expect.stringContaining(`"${phrase}"`));
});

test('the check finds a JSDoc tag that is not at the start of its line', () => {
  const find = (comment: string) => findPhrases(readTexts('a.ts', `/**${comment}*/\nrun();\n`));
  expect(find(' Sends it. @throws Error if it fails ')).toHaveLength(1);
  expect(find('\n * Sends it, once. @param\n * id of the delivery\n ')).toHaveLength(1);
  expect(find('\n * Sends it.\n * @param id of the delivery\n *\n * @throws Error\n ')).toEqual([]);
  expect(find(' @returns the id ')).toEqual([]);
});

test.each(['There is no key', 'It is no longer sent', 'The operator is alerted'])(
  'the check accepts "%s"',
  (text) => expect(phrasesOf(text)).toEqual([]),
);

test.each([
  ['# Sluice\n\nIt needs Postgres.', 3, 'PostgreSQL'],
  ['| a |\n|---|\n| a [web hook](https://github.com) |', 3, 'webhook'],
  ['Ask on Github.', 1, 'GitHub'],
])('the check finds a word in %j on line %i to replace by %s', async (page, line, word) => {
  expect(await wordsOf(page)).toEqual([expect.stringMatching(new RegExp(`^${line} .*“${word}”`))]);
});

test('the check accepts URLs and correct spellings', async () => {
  expect(
    await wordsOf('Its id is in [PostgreSQL](https://github.com/x/postgres), see the README.'),
  ).toEqual([]);
});
