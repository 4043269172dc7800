/**
 * Checks docs/llms.txt against the lists of pages in two READMEs. With `--update`, writes the file.
 */
import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readGroups } from '../../site/contents.ts';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));

/**
 * Returns the list of pages in the README of a folder: the headings, and the title, path below
 * `docs` and description of each page.
 */
const read = (folder: string): string =>
  readGroups(readFileSync(join(docs, folder, 'README.md'), 'utf8'))
    .map(({ heading, entries }) => {
      const lines = entries.map(
        ({ title, path, about }) =>
          `- [${title}](${normalize(join(folder, path))})${about && `: ${about}`}`,
      );
      return [...(heading ? [`## ${heading}\n`] : []), ...lines].join('\n');
    })
    .join('\n\n');

test('lists every page', async () => {
  await expect(`# Sluice

> Watches EVM chains and Aptos and POSTs a signed webhook for each block that concerns you. Self-hosted; compatible with the hosted Moralis Streams API. Includes a TypeScript client kit (@sluice/kit), a console and a command line (sluice).

${read('.')}

## Client kit pages

${read('kit')}
`).toMatchFileSnapshot(join(docs, 'llms.txt'));
});
