/** Generates docs/llms.txt from the two lists of pages. `--update` writes it again. */
import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));

/** Reads a list of pages: headings, and each page's title, path below `docs` and description. */
const read = (folder: string): string =>
  readFileSync(join(docs, folder, 'README.md'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, heading] = /^\*\*(.+)\*\*$/.exec(line) ?? [];
      if (heading !== undefined) return ['', `## ${heading}`, ''];
      const [, title, path, about = ''] =
        /^(?:\d+\.|-) \[([^\]]+)\]\(([^)]+)\)(?:: (.+))?$/.exec(line) ?? [];
      if (title === undefined || path === undefined) return [];
      return [`- [${title}](${normalize(join(folder, path))})${about && `: ${about}`}`];
    })
    .join('\n')
    .trim();

test('lists every page', async () => {
  await expect(`# Sluice

> Watches EVM chains and Aptos and POSTs a signed webhook for each block that concerns you. Self-hosted; compatible with the hosted Moralis Streams API. Includes a TypeScript client kit (@sluice/kit), a console and a command line (sluice).

${read('.')}

## Client kit pages

${read('kit')}
`).toMatchFileSnapshot(join(docs, 'llms.txt'));
});
