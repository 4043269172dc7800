/** `npm run -s prose`: lists texts that use a phrase of `patterns.ts`. Exits with 1 where there are any. */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { PATTERNS } from './patterns.ts';
import { readTexts } from './read.ts';

const READ = ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'packages/*/src/**/*.{ts,tsx}'];
const NOT_READ = /\.(test|test-d|test-only|suite)\.tsx?$/;
const SHOWN = 90;

let count = 0;
for await (const name of glob(READ)) {
  if (NOT_READ.test(name)) continue;
  for (const { line, text, kind } of readTexts(name, readFileSync(name, 'utf8'))) {
    for (const { pattern, instead, opensComment } of PATTERNS) {
      if (opensComment && kind !== 'comment') continue;
      const found = pattern.exec(text);
      if (found === null) continue;
      count++;
      const shown = text.slice(Math.max(0, found.index - SHOWN / 3)).slice(0, SHOWN);
      process.stdout.write(`${name}:${line} "${found[0]}" (write: ${instead}): ${shown}\n`);
    }
  }
}
process.stderr.write(`prose: ${count} texts to reword\n`);
process.exitCode = count > 0 ? 1 : 0;
