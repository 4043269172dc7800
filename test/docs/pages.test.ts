/** What the pages of docs/kit name beside their snippets is there: links, anchors, calls. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createClient } from '@sluice/kit';
import { describe, expect, test } from 'vitest';

const folder = new URL('../../docs/kit/', import.meta.url);
const pages = readdirSync(folder).filter((name) => name.endsWith('.md'));
const read = (url: URL): string => readFileSync(url, 'utf8');

/** As GitHub makes them of headings. */
const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

describe.each(pages)('%s', (name) => {
  const page = read(new URL(name, folder));

  test('its links lead somewhere', () => {
    for (const [, link = ''] of page.matchAll(/\]\(([^)]+)\)/g)) {
      const url = new URL(link, new URL(name, folder));
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

test('the first page lists every other', () => {
  const first = read(new URL('README.md', folder));
  for (const name of pages) if (name !== 'README.md') expect(first).toContain(`](${name})`);
});
