/**
 * Tests the tarball, not the source tree: installed by npm into separate projects, then loaded and
 * type-checked on the supported versions.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_HINTS } from '../../packages/kit/src/errors.ts';
import { prints, readPrograms } from '../docs/programs.ts';
import { type Packed, installInto, packKit } from './install.ts';
import { readyNode20, versionOf } from './node20.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sluice-packed-'));
/** Entries that work without zod, which only the contract needs. */
const esm = join(folder, 'esm');
const cjs = join(folder, 'cjs');
const nodes: Record<string, string> = { 26: process.execPath };
let packed: Packed;
let entries: string[];

beforeAll(() => {
  packed = packKit(folder);
  for (const project of [esm, cjs]) mkdirSync(project);
  installInto(esm, 'module', [packed.tarball]);
  installInto(cjs, 'commonjs', [packed.tarball, `zod@${versionOfZod()}`]);
  nodes['20'] = readyNode20(folder);
  const { exports } = JSON.parse(
    readFileSync(join(esm, 'node_modules/@sluice/kit/package.json'), 'utf8'),
  ) as { exports: Record<string, object> };
  // Internals of our own service are not in the package.
  entries = Object.entries(exports)
    .filter(([, conditions]) => 'default' in conditions)
    .map(([path]) => `@sluice/kit${path.slice(1)}`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const versionOfZod = (): string =>
  (
    createRequire(here('../../packages/kit/package.json'))('zod/package.json') as {
      version: string;
    }
  ).version;

const run = (version: string, cwd: string, ...args: string[]): string =>
  execFileSync(nodes[version]!, args, { cwd, encoding: 'utf8', env: environment });

/** Removes this process's flags, which would resolve imports outside the tarball. */
const environment = { ...process.env, NODE_OPTIONS: '' };

test('the tarball has all required files and no tests', () => {
  expect(packed.files).toEqual(expect.arrayContaining(['package.json', 'dist/index.js']));
  expect(packed.files.filter((path) => path.includes('.test'))).toEqual([]);
});

test('the tarball unpacks to at most 450 kB', () => {
  expect(packed.unpackedSize).toBeGreaterThan(50_000);
  expect(packed.unpackedSize).toBeLessThanOrEqual(450_000);
});

describe.each(['26', '20'])('Node %s', (version) => {
  test('is that version', () => {
    expect(versionOf(nodes[version]!)).toMatch(new RegExp(`^v${version}\\.`));
  });

  test('every entry loads by import; all but the contract without zod', () => {
    const code = (list: string[]) =>
      `for (const it of ${JSON.stringify(list)}) console.log(Object.keys(await import(it)).length > 0)`;
    const independent = entries.filter((entry) => !entry.endsWith('/contract'));
    expect(independent.length).toBeGreaterThan(2);
    const script = ['--input-type=module', '--eval'];
    expect(run(version, esm, ...script, code(independent))).toBe(
      'true\n'.repeat(independent.length),
    );
    expect(run(version, cjs, ...script, code(entries))).toBe('true\n'.repeat(entries.length));
  });

  test('every entry loads by require', () => {
    const code = `for (const it of ${JSON.stringify(entries)}) console.log(Object.keys(require(it)).length > 0)`;
    expect(run(version, cjs, '--input-type=commonjs', '--eval', code)).toBe(
      'true\n'.repeat(entries.length),
    );
  });

  test.each(['records', 'decode'])(
    'the programs of docs/kit/%s.md print the documented output',
    (page) => {
      const programs = readPrograms(readFileSync(here(`../../docs/kit/${page}.md`), 'utf8'));
      expect(programs.length).toBeGreaterThan(0);
      for (const { file, code, output = '' } of programs) {
        const program = join(esm, `${page}-${file.replace('.ts', '.mjs')}`);
        writeFileSync(program, stripTypeScriptTypes(code));
        const printed = run(version, esm, program);
        if (!prints(output, printed, 'all')) expect(printed).toBe(output);
      }
    },
  );

  test("the contract's vectors pass", () => {
    copyFileSync(here('conformance.mjs'), join(esm, 'conformance.mjs'));
    const output = run(version, esm, '--test', '--test-reporter=tap', 'conformance.mjs');
    expect(output).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(output)?.[1])).toBeGreaterThanOrEqual(9);
  });
});

describe('a consumer type-checks', () => {
  const peers = createRequire(here('../peers/package.json'));
  const compilers: Record<string, () => string> = {
    '7': () => here('../../node_modules/typescript/bin/tsc'),
    '5.8': () => peers.resolve('typescript-5.8/bin/tsc'),
    '5.4': () => peers.resolve('typescript-5.4/bin/tsc'),
  };

  // CommonJS projects can import ES modules since TypeScript 5.8.
  test.each([
    ['7', 'ESM', esm, {}],
    ['7', 'ESM with a bundler', esm, { module: 'preserve', moduleResolution: 'bundler' }],
    ['5.4', 'ESM', esm, {}],
    ['5.4', 'ESM with a bundler', esm, { module: 'esnext', moduleResolution: 'bundler' }],
    ['7', 'CommonJS', cjs, {}],
    ['5.8', 'CommonJS', cjs, {}],
  ])('TypeScript %s, %s', (version, _, project, options) => {
    const compiler = compilers[version]!();
    expect(
      spawnSync(process.execPath, [compiler, '--version'], { encoding: 'utf8' }).stdout,
    ).toMatch(`Version ${version}.`);
    copyFileSync(here('consumer.ts'), join(project, 'consumer.ts'));
    expect(typeErrors(compiler, project, ['consumer.ts'], options)).toBe('');
  });

  test('TypeScript 7, the snippets of the README', () => {
    const files = [...readme().matchAll(/^```ts\n(.*?)^```/gms)].map(([, snippet = ''], at) => {
      writeFileSync(join(esm, `snippet-${at}.ts`), snippet);
      return `snippet-${at}.ts`;
    });
    expect(files).toHaveLength(3);
    expect(typeErrors(compilers['7']!(), esm, files, {})).toBe('');
  });
});

function typeErrors(compiler: string, cwd: string, files: string[], options: object): string {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, types: [], skipLibCheck: false },
    ...{ target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], module: 'nodenext', ...options },
  };
  writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', '.'], {
    cwd,
    encoding: 'utf8',
  });
  return status === 0 ? stdout : stdout || `exit code ${status}`;
}

const readme = (): string => readFileSync(join(esm, 'node_modules/@sluice/kit/README.md'), 'utf8');

test('the README explains every error code that links to it', () => {
  const explained = [...readme().matchAll(/^### (\w+)$/gm)].map(([, code]) => code);
  expect(explained).toEqual(Object.keys(ERROR_HINTS));
});
