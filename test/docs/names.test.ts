/** Checks that every name of the published kit has a comment where it is declared. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const kit = new URL('../../packages/kit/', import.meta.url);
const read = (url: URL): string => readFileSync(url, 'utf8');

const { exports } = JSON.parse(read(new URL('package.json', kit))) as {
  exports: Record<string, { '@sluice/source': string; default?: string }>;
};

/** Yields each public name of an entry point, and the file that it is exported from. */
function* namesOf(entry: URL): Generator<[name: string, file: URL]> {
  const text = read(entry);
  for (const [, names = '', file = ''] of text.matchAll(
    /^export (?:type )?\{([^}]+)\} from '([^']+)'/gm,
  )) {
    for (const name of names.split(',')) {
      if (name.trim() !== '') yield [name.replace(/^\s*type /, '').trim(), new URL(file, entry)];
    }
  }
  for (const [, file = ''] of text.matchAll(/^export (?:type )?\* from '([^']+)'/gm)) {
    yield* namesOf(new URL(file, entry));
  }
  for (const [, name = ''] of text.matchAll(DECLARATION)) yield [name, entry];
}

const DECLARATION =
  /^export (?:async )?(?:abstract )?(?:const|function|interface|type|class) (\w+)/gm;

/** Returns whether the first declaration of the name directly follows a comment. */
function isDocumented(name: string, file: URL): boolean {
  const text = read(file);
  for (const match of text.matchAll(DECLARATION)) {
    if (match[1] === name) return text.slice(0, match.index).endsWith('*/\n');
  }
  // The file may re-export the name from another file.
  for (const [other, from] of namesOf(file)) {
    if (other === name && from.href !== file.href) return isDocumented(name, from);
  }
  return false;
}

const entries = Object.entries(exports).filter(([, { default: published }]) => published);

describe.each(entries)('@sluice/kit %s', (_, { '@sluice/source': source }) => {
  test('each name has a comment', () => {
    const names = [...namesOf(new URL(source, kit))];
    expect(names.length).toBeGreaterThan(0);
    const bare = names.filter(([name, file]) => !isDocumented(name, file)).map(([name]) => name);
    expect(bare).toEqual([]);
  });
});
