/**
 * Checks the pages: their links and calls to the kit, the default limit in the contract, the lists
 * of pages, and that tests run the examples.
 */
import { existsSync, globSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient } from '@sluice/kit';
import { DEFAULT_MAX_WEBHOOK_BYTES } from '@sluice/kit/contract';
import { describe, expect, test } from 'vitest';
import { anchorsOf } from './anchors.ts';

const root = new URL('../../', import.meta.url);
const find = (patterns: string[], folder = '.'): string[] =>
  globSync(patterns, { cwd: fileURLToPath(new URL(folder, root)) });
const pages = find([
  '*.md',
  'docs/**/*.md',
  'examples/*.md',
  'bench/results/*.md',
  'packages/*/README.md',
]);
const read = (url: URL): string => readFileSync(url, 'utf8');
const withoutCode = (page: string): string => page.replaceAll(/^```[\s\S]*?^```$/gm, '');

describe.each(pages)('%s', (name) => {
  const page = read(new URL(name, root));

  test('its links work', () => {
    for (const [, link = ''] of withoutCode(page).matchAll(/\]\(([^)]+)\)/g)) {
      const url = new URL(link, new URL(name, root));
      if (url.protocol !== 'file:') continue;
      const anchor = url.hash.slice(1);
      url.hash = '';
      expect(existsSync(url), link).toBe(true);
      if (anchor !== '') expect(anchorsOf(read(url)), link).toContain(anchor);
    }
  });

  test('the calls it names exist', () => {
    const client = createClient({ baseUrl: 'http://sluice.test', apiKey: 'k' });
    for (const [call, group = '', method = ''] of page.matchAll(/\bclient\.(\w+)\.(\w+)\(/g)) {
      expect(client, call).toHaveProperty([group, method]);
    }
  });
});

test('the contract states the default limit of a webhook', () => {
  const mebibytes = DEFAULT_MAX_WEBHOOK_BYTES / 1024 / 1024;
  expect(read(new URL('docs/contract.md', root))).toContain(
    `no webhook is larger than ${mebibytes} MiB (\`--max-webhook-bytes\`)`,
  );
});

test.each(['docs', 'docs/kit', 'docs/decisions'])('the README of %s lists every page', (folder) => {
  const first = read(new URL(`${folder}/README.md`, root));
  for (const name of find(['*.md'], folder)) {
    if (name !== 'README.md') expect(first).toContain(`](${name})`);
  }
});

test('each example is run by a test or imported by one that is', () => {
  const readAll = (pattern: string): string =>
    find([pattern])
      .map((name) => read(new URL(name, root)))
      .join('\n');
  const tests = readAll('test/**/*.test.ts');
  const examples = readAll('examples/*.ts');
  for (const name of readdirSync(new URL('examples', root))) {
    if (name === 'README.md') continue;
    const isRun = new RegExp(`['/]${name}['\`]`).test(tests);
    expect(isRun || examples.includes(`from './${name}'`), name).toBe(true);
  }
});
