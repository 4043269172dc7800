/** `npm run prose` reads what people read, and knows the phrases to avoid. */
import { expect, test } from 'vitest';
import { findPhrases } from '../../scripts/prose/patterns.ts';
import { readTexts } from '../../scripts/prose/read.ts';

const phrasesOf = (comment: string): string[] =>
  findPhrases([{ line: 1, kind: 'comment', text: comment }]).map(({ message }) => message);

test('comments, strings and JSX are texts of code', () => {
  const source = `/**\n * Reads a key.\n * Twice.\n */\nconst a = 'it\\'s'; // why\nconst b = <p>Hello</p>;\n`;
  expect(readTexts('a.tsx', source)).toEqual([
    { line: 1, kind: 'comment', text: 'Reads a key. Twice.' },
    { line: 5, kind: 'comment', text: 'why' },
    { line: 5, kind: 'string', text: "it's" },
    { line: 6, kind: 'string', text: 'Hello' },
  ]);
});

test('names in code are left out', () => {
  const source = "import './told.ts';\nrun('nobody');\nfail('No user `nobody`');\n// `told`\n";
  expect(findPhrases(readTexts('a.ts', source))).toEqual([]);
});

test('code and quotations of a page are left out', () => {
  const page = 'Run `told`.\n```sh\nnobody\n```\nIt reports "nobody asks".\n';
  const texts = readTexts('page.md', page);
  expect(findPhrases(texts)).toEqual([]);
  expect(texts).toHaveLength(page.split('\n').length);
});

test.each([
  ['Of a chain the newest block', 'Of'],
  ['It stands in the ledger', 'stands'],
  ['This is no key of ours', 'is no key'],
  ['The block was held against it', 'held against'],
])('"%s" is found', (text, phrase) => {
  expect(phrasesOf(text)).toContainEqual(expect.stringContaining(`"${phrase}"`));
});

test.each(['There is no key', 'It is no longer sent', 'The operator is alerted'])(
  '"%s" is fine',
  (text) => expect(phrasesOf(text)).toEqual([]),
);
