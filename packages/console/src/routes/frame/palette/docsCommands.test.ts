import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseDocs } from './docsCommands.ts';

test('every Markdown page of the list is a command', async () => {
  const file = new URL('../../../../../../docs/llms.txt', import.meta.url);
  const list = await readFile(file, 'utf8');
  const pages = parseDocs(list);
  const linked = [...list.matchAll(/\]\(([a-z][^)]*\.md)\)/gi)].map(([, path]) => path);
  expect(pages.map(({ path }) => path)).toEqual([...new Set(linked)]);
  expect(pages).toContainEqual({
    title: 'Verify',
    path: 'kit/verify.md',
    about: 'check signatures, and find out why one fails',
  });
});

test('pages elsewhere are left out', () => {
  expect(parseDocs('- [A](https://example.com/a.md): b\n- [C](../c.md)\n- [D](//d.md): e')).toEqual(
    [],
  );
});
