/** Checks import directions that a lint rule per folder cannot enforce (docs/architecture.md). */
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const packages = fileURLToPath(new URL('../../packages', import.meta.url));

interface Import {
  from: string;
  to: string;
  /** True for `import type` and `export type`, which do not exist at run time. */
  isTypeOnly: boolean;
}

/**
 * Lists the imports in the sources of a folder, except in tests. Paths are relative to `packages`.
 */
function readImports(folder: string): Import[] {
  return readdirSync(join(packages, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.(test|suite|test-d|test-only)\./.test(name))
    .flatMap((name) => {
      const from = join(folder, name);
      const text = readFileSync(join(packages, from), 'utf8');
      return [...text.matchAll(/^(?:import|export) (type )?[^;]*?from '([^']+)'/gms)].map(
        ([, type, to = '']) => ({
          from,
          to: to.startsWith('.') ? join(from, '..', to) : to,
          isTypeOnly: type !== undefined,
        }),
      );
    });
}

/**
 * Folders and files that each part of the service may import. `service.ts` and `index.ts` may
 * import everything.
 */
const BELOW: Record<string, readonly string[]> = {
  base: [],
  'config.ts': ['base'],
  store: ['base'],
  match: ['base', 'store'],
  enrich: ['base', 'store'],
  secrets: ['base', 'store'],
  deliver: ['base', 'config.ts', 'store', 'secrets'],
  operate: ['base', 'config.ts', 'store', 'secrets', 'deliver'],
  ingest: ['base', 'store', 'match', 'enrich'],
  chains: ['base', 'config.ts', 'store', 'match', 'enrich', 'deliver', 'operate', 'ingest'],
  api: ['base', 'config.ts', 'store', 'match', 'secrets', 'deliver', 'operate', 'chains'],
};

/**
 * Folders that each folder of the console may import. `main.tsx` and `router.tsx` may import
 * everything.
 */
const BELOW_IN_CONSOLE: Record<string, readonly string[]> = {
  ui: [],
  body: ['ui'],
  chains: ['ui'],
  words: ['ui', 'chains'],
  data: ['ui', 'body', 'chains', 'words'],
  routes: ['ui', 'body', 'chains', 'words', 'data'],
};

test.each([
  ['service', BELOW, ['index.ts', 'service.ts']],
  ['console', BELOW_IN_CONSOLE, ['main.tsx', 'router.tsx', 'styles.css']],
])('folders of the %s import only folders below them', (name, below, starts) => {
  const source = join(name, 'src');
  const roomOf = (path: string): string => relative(source, path).split(sep, 1)[0]!;
  const wrong = readImports(source).filter(({ from, to }) => {
    const [own, other] = [roomOf(from), roomOf(to)];
    if (starts.includes(own) || own === other) return false;
    return to.startsWith(source) && !below[own]?.includes(other);
  });
  expect(wrong).toEqual([]);
  expect(
    readdirSync(join(packages, source))
      .filter((each) => !each.includes('.test.'))
      .toSorted(),
  ).toEqual([...Object.keys(below), ...starts].toSorted());
});

test('ingestion imports only the chain calls of enrichment', () => {
  const wrong = readImports(join('service', 'src', 'ingest')).filter(
    ({ to }) => to.includes(join('src', 'enrich')) && !to.endsWith(join('enrich', 'state.ts')),
  );
  expect(wrong).toEqual([]);
});

test('only the command line imports the service', () => {
  const wrong = ['kit', 'testkit', 'console']
    .flatMap((name) => readImports(join(name, 'src')))
    .filter(({ to }) => to === '@sluice/service' || to === 'sluice');
  expect(wrong).toEqual([]);
});

test('only the schemas of the contract import zod', () => {
  const schemas = ['requests/', 'streams/', 'named.ts', 'calls/'].map((name) =>
    join('contract', name),
  );
  const isSchemas = (path: string): boolean => schemas.some((name) => path.includes(name));
  const wrong = readImports(join('kit', 'src')).filter(
    ({ from, to }) =>
      !isSchemas(from) &&
      (to === 'zod' || (isSchemas(to) && !from.endsWith(join('contract', 'index.ts')))),
  );
  expect(wrong).toEqual([]);
});

test('the store imports only types of the contract, so that its threads load no schemas', () => {
  const wrong = readImports(join('service', 'src', 'store')).filter(
    ({ to, isTypeOnly }) => to === '@sluice/kit/contract' && !isTypeOnly,
  );
  expect(wrong).toEqual([]);
});

test('imports are found', () => {
  expect(readImports(join('service', 'src')).length).toBeGreaterThan(50);
});
