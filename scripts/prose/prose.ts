/**
 * `npm run -s prose`: lists phrases to avoid in pages and code (`patterns.ts`), and misspelled
 * terms in pages (`words.ts`). Exits with 1 if it finds any.
 */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { findPhrases } from './patterns.ts';
import { readTexts } from './read.ts';
import { findWords } from './words.ts';

const PAGES = ['*.md', 'docs/**/*.md', 'examples/*.md', 'packages/*/README.md'];
const CODE = ['packages/*/src/**/*.{ts,tsx}'];
const NOT_READ = /\.(test|test-d|test-only)\.tsx?$/;

let count = 0;
for await (const name of glob([...PAGES, ...CODE])) {
  if (NOT_READ.test(name)) continue;
  const texts = readTexts(name, readFileSync(name, 'utf8'));
  const findings = findPhrases(texts);
  if (name.endsWith('.md')) findings.push(...(await findWords(texts)));
  for (const { line, message } of findings) process.stdout.write(`${name}:${line} ${message}\n`);
  count += findings.length;
}
process.stderr.write(`prose: ${count} texts to reword\n`);
process.exitCode = count > 0 ? 1 : 0;
