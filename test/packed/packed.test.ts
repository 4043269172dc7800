/**
 * Tests the kit's tarball instead of its sources. npm installs it into separate projects, which
 * load and type-check it with supported versions of Node and TypeScript.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_HINTS } from '../../packages/kit/src/errors.ts';
import { type Packed, packKit } from '../../scripts/release/packages.ts';
import { prints, readPrograms } from '../docs/programs.ts';
import { installInto } from './install.ts';
import { prepareNode20, versionOf } from './node20.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sluice-packed-'));
const esm = join(folder, 'esm');
const cjs = join(folder, 'cjs');
const nodes: Record<string, string> = { 26: process.execPath };
const programs = createRequire(here('../programs/runtimes/package.json'));
let packed: Packed;
let entries: string[];

beforeAll(() => {
  packed = packKit(folder);
  for (const project of [esm, cjs]) mkdirSync(project);
  installInto(esm, 'module', [packed.tarball]);
  installInto(cjs, 'commonjs', [packed.tarball]);
  nodes['20'] = prepareNode20(folder);
  const { exports } = JSON.parse(
    readFileSync(join(esm, 'node_modules/@sluice/kit/package.json'), 'utf8'),
  ) as { exports: Record<string, object> };
  entries = Object.keys(exports).map((path) => `@sluice/kit${path.slice(1)}`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (version: string, cwd: string, ...args: string[]): string =>
  execFileSync(nodes[version]!, args, { cwd, encoding: 'utf8', env: environment });

/**
 * Environment without this process's Node flags, which would resolve imports outside the tarball.
 */
const environment = { ...process.env, NODE_OPTIONS: '' };

/** Paths that only this repository can import. */
const INTERNAL = ['contract', 'calls', 'operator', 'dist/contract/values.js', 'package.json'].map(
  (path) => `@sluice/kit/${path}`,
);

test('the tarball has all required files and no tests', () => {
  expect(packed.files).toEqual(expect.arrayContaining(['package.json', 'dist/index.js']));
  expect(packed.files.filter((path) => path.includes('.test'))).toEqual([]);
});

test('the entry points are those of the documentation', () => {
  const page = readFileSync(here('../../docs/kit/README.md'), 'utf8');
  const [table = ''] = /(?<=^## Entry points\n\n)(?:\|.*\n)+/m.exec(page) ?? [];
  const documented = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(?:@sluice\/kit)?([^`]*)`/g)].map(([, path]) => `@sluice/kit${path}`),
  );
  expect(entries.toSorted()).toEqual(documented.toSorted());
});

test('the tarball has no schemas and no part of the console or the command line', () => {
  const internal = /contract\/(?:calls|requests|index|named)|operator|zod/;
  expect(packed.files.filter((path) => internal.test(path))).toEqual([]);
});

test('the tarball unpacks to at most 950 kB', () => {
  expect(packed.unpackedSize).toBeGreaterThan(50_000);
  expect(packed.unpackedSize).toBeLessThanOrEqual(950_000);
});

describe.each(['26', '20'])('Node %s', (version) => {
  test('is that version', () => {
    expect(versionOf(nodes[version]!)).toMatch(new RegExp(`^v${version}\\.`));
  });

  test('every entry loads by import', () => {
    const code = `for (const it of ${JSON.stringify(entries)}) console.log(Object.keys(await import(it)).length > 0)`;
    expect(run(version, esm, '--input-type=module', '--eval', code)).toBe(
      'true\n'.repeat(entries.length),
    );
  });

  test.each(INTERNAL)('%s can be neither imported nor required', (path) => {
    const code = `import { createRequire } from 'node:module';
      const load = { imported: (it) => import(it), required: createRequire(import.meta.url) };
      for (const [how, by] of Object.entries(load)) {
        await (async () => by('${path}'))().catch(({ code }) => console.log(how, code));
      }`;
    const program = join(esm, 'internal.mjs');
    writeFileSync(program, code);
    const refused = 'ERR_PACKAGE_PATH_NOT_EXPORTED';
    expect(run(version, esm, program)).toBe(`imported ${refused}\nrequired ${refused}\n`);
  });

  test('every entry loads by require, without ES modules', () => {
    const code = `for (const it of ${JSON.stringify(entries)}) console.log(Object.keys(require(it)).length > 0)`;
    const flags = ['--no-experimental-require-module', '--input-type=commonjs'];
    expect(run(version, cjs, ...flags, '--eval', code)).toBe('true\n'.repeat(entries.length));
  });

  test('import and require export the same names', () => {
    const code = `for (const it of ${JSON.stringify(entries)}) {
      const imported = Object.keys(await import(it)).filter((name) => name !== 'default');
      const required = Object.keys(createRequire(import.meta.url)(it)).filter((name) => name !== 'default');
      console.log(imported.sort().join() === required.sort().join());
    }`;
    const program = join(cjs, 'names.mjs');
    writeFileSync(program, `import { createRequire } from 'node:module';\n${code}`);
    expect(run(version, cjs, program)).toBe('true\n'.repeat(entries.length));
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

  test('the program of the README prints the documented output', () => {
    const [{ code, output } = { code: '', output: '' }] = readPrograms(readme());
    const program = join(esm, 'readme.mjs');
    writeFileSync(program, stripTypeScriptTypes(code));
    expect(run(version, esm, program)).toBe(output);
  });

  test("the contract's vectors pass", () => {
    copyFileSync(here('conformance.mjs'), join(esm, 'conformance.mjs'));
    const output = run(version, esm, '--test', '--test-reporter=tap', 'conformance.mjs');
    expect(output).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(output)?.[1])).toBeGreaterThanOrEqual(9);
  });
});

const TEST = `test('a signature', async () => {
  const { createHandler } = await load('@sluice/kit');
  const { sampleWebhook, signedRequest } = await load('@sluice/kit/testing');
  const handler = createHandler({ secret: 'secret' }).onWebhook(() => {});
  const webhook = sampleWebhook('erc20-transfer');
  expect((await handler(signedRequest({ webhook, secret: 'secret' }))).status).toBe(200);
});`;

test.each([
  ['Jest', cjs, 'require(path)', () => [programs.resolve('jest/bin/jest')]],
  [
    'Vitest',
    esm,
    'import(path)',
    () => [here('../../node_modules/vitest/vitest.mjs'), 'run', '--globals', '--root', '.'],
  ],
] as const)(
  '%s on Node 20 runs a test in a project without settings',
  (_, project, load, runner) => {
    writeFileSync(join(project, 'kit.test.js'), `const load = (path) => ${load};\n${TEST}`);
    const { stdout, stderr } = spawnSync(nodes['20']!, [...runner(), 'kit.test.js'], {
      cwd: project,
      encoding: 'utf8',
      // Omits Vitest's variables, which would mark the child process as one of Vitest's own
      // workers.
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1' },
    });
    expect(stdout + stderr).toMatch(/^ *Tests:? +1 passed/m);
  },
);

describe('a consumer type-checks', () => {
  const compilers: Record<string, () => string> = {
    '7': () => here('../../node_modules/typescript/bin/tsc'),
    '5.8': () => programs.resolve('typescript-5.8/bin/tsc'),
    '5.4': () => programs.resolve('typescript-5.4/bin/tsc'),
  };

  test.each([
    ['7', 'ESM', esm, {}],
    ['7', 'ESM with a bundler', esm, { module: 'preserve', moduleResolution: 'bundler' }],
    ['5.4', 'ESM', esm, {}],
    ['5.4', 'ESM as node16', esm, { module: 'node16' }],
    ['5.4', 'ESM with a bundler', esm, { module: 'esnext', moduleResolution: 'bundler' }],
    ['7', 'CommonJS', cjs, {}],
    ['5.8', 'CommonJS', cjs, {}],
    ['5.4', 'CommonJS', cjs, {}],
    ['5.4', 'CommonJS as node16', cjs, { module: 'node16' }],
  ])('TypeScript %s, %s', (version, _, project, options) => {
    const compiler = compilers[version]!();
    expect(
      spawnSync(process.execPath, [compiler, '--version'], { encoding: 'utf8' }).stdout,
    ).toMatch(`Version ${version}.`);
    copyFileSync(here('consumer.ts'), join(project, 'consumer.ts'));
    expect(typeErrors(compiler, project, ['consumer.ts'], options)).toBe('');
  });

  test('TypeScript 7 finds no types of what only this repository can import', () => {
    const code = INTERNAL.map((path) => `export type * from '${path}';\n`).join('');
    writeFileSync(join(esm, 'internal.ts'), code);
    const errors = typeErrors(compilers['7']!(), esm, ['internal.ts'], {});
    expect(errors.match(/error TS2307: Cannot find module/g)).toHaveLength(INTERNAL.length);
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
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: false,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'nodenext',
    ...options,
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
