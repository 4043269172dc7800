/** The directions of imports that no lint rule per folder can hold (docs/architecture.md). */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const packages = fileURLToPath(new URL('../../packages', import.meta.url));

interface Import {
  from: string;
  to: string;
  /** Gone when it runs. */
  isTypeOnly: boolean;
}

/** Every import of product code below `folder`, tests left out; paths relative to `packages`. */
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

const PARTS = ['ingest', 'match', 'enrich', 'deliver', 'http'];
const partOf = (path: string): string | undefined =>
  PARTS.find((part) => path.startsWith(join('service', 'src', part, sep)));

test('the parts of the service meet only in service.ts and through store/store.ts', () => {
  const allowed = new Set([
    // The block is what ingestion hands to matching, through the composition in service.ts.
    join('service', 'src', 'match', 'block.ts'),
    join('service', 'src', 'match', 'aptosBlock.ts'),
    // What enrichment asks of the chain's state is what ingestion's nodes answer.
    join('service', 'src', 'enrich', 'state.ts'),
  ]);
  const wrong = readImports(join('service', 'src')).filter(({ from, to }) => {
    const own = partOf(from);
    const other = partOf(to);
    return own !== undefined && other !== undefined && own !== other && !allowed.has(to);
  });
  expect(wrong).toEqual([]);
  for (const path of allowed) expect(existsSync(join(packages, path)), path).toBe(true);
});

test('only the command line imports the service', () => {
  const wrong = ['kit', 'testkit', 'console']
    .flatMap((name) => readImports(join(name, 'src')))
    .filter(({ to }) => to === '@sluice/service' || to === 'sluice');
  expect(wrong).toEqual([]);
});

test('zod is reached through the schemas of the contract alone', () => {
  const schemas = ['schemas.ts', 'answerSchemas.ts'].map((name) => join('contract', name));
  const isSchemas = (path: string): boolean => schemas.some((name) => path.endsWith(name));
  const wrong = readImports(join('kit', 'src')).filter(
    ({ from, to }) =>
      !isSchemas(from) &&
      (to === 'zod' || (isSchemas(to) && !from.endsWith(join('contract', 'index.ts')))),
  );
  expect(wrong).toEqual([]);
});

test('the store takes types alone from the contract: its threads would load every schema with it', () => {
  const wrong = readImports(join('service', 'src', 'store')).filter(
    ({ to, isTypeOnly }) => to === '@sluice/kit/contract' && !isTypeOnly,
  );
  expect(wrong).toEqual([]);
});

test('the test reads imports at all', () => {
  expect(readImports(join('service', 'src')).length).toBeGreaterThan(50);
});
