import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

const PACKAGE = new URL('../package.json', import.meta.url);

/** Lists every name that a source file exports, including types. */
async function namesOf(file: URL): Promise<string[]> {
  const text = await readFile(file, 'utf8');
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, match = '']) => match);
  const all = found(/^export (?:type )?\* from '([^']+)'/gm);
  return [
    ...found(/^export (?:async )?(?:class|const|function\*?|interface|type) (\w+)/gm),
    ...found(/^export (?:type )?\{([^}]*)\}/gm)
      .flatMap((list) => list.split(','))
      .map((name) => name.replace(/\btype\b/, '').trim())
      .filter((name) => name !== ''),
    ...(await Promise.all(all.map((path) => namesOf(new URL(path, file))))).flat(),
  ];
}

// To accept changes to the exports, run this test with `--update`.
it('exports.txt lists the exports of the package', async () => {
  const { exports } = JSON.parse(await readFile(PACKAGE, 'utf8')) as {
    exports: Record<string, { '@sluice/source': string; default?: string }>;
  };
  const places = new Map<string, Set<string>>();
  for (const [entry, { '@sluice/source': source, default: published }] of Object.entries(exports)) {
    if (published === undefined) continue;
    const file = new URL(source, PACKAGE);
    const values = Object.keys((await import(file.href)) as object);
    const names = await namesOf(file);
    expect(names).toEqual(expect.arrayContaining(values));
    for (const name of names) {
      const line = values.includes(name) ? name : `type ${name}`;
      places.set(line, (places.get(line) ?? new Set()).add(entry));
    }
  }
  const lines = [...places].map(([name, entries]) => `${name}: ${[...entries].join(' ')}\n`);
  await expect(lines.sort().join('')).toMatchFileSnapshot('exports.txt');
});

/** Lists all modules that a source file imports directly or indirectly, including type imports. */
async function modulesOf(entry: URL, seen = new Set<string>()): Promise<Set<string>> {
  seen.add(entry.href);
  const text = await readFile(entry, 'utf8');
  for (const [, specifier = ''] of text.matchAll(/ from '([^']+)'/g)) {
    if (!specifier.startsWith('.')) seen.add(specifier);
    else if (!seen.has(new URL(specifier, entry).href)) {
      await modulesOf(new URL(specifier, entry), seen);
    }
  }
  return seen;
}

describe('imports', () => {
  it.each(['index.ts', 'client/sluice.ts', 'records/index.ts', 'contract/index.ts'])(
    'of %s never include zod',
    async (entry) => {
      const modules = await modulesOf(new URL(entry, import.meta.url));
      const packages = [...modules].filter((it) => !it.startsWith('file:'));
      expect(packages.every((it) => it === 'abitype' || it.startsWith('@noble/hashes/'))).toBe(
        true,
      );
      expect(modules.size).toBeGreaterThan(5);
    },
  );

  it('of the calls include zod', async () => {
    const modules = await modulesOf(new URL('contract/calls/index.ts', import.meta.url));
    expect([...modules]).toContain('zod');
  });
});
