/**
 * Tests that the kit behaves the same in every supported runtime: other versions of Node, Bun,
 * Deno, and a Cloudflare Worker.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort, until } from '@sluice/testkit';
import { expect, test } from 'vitest';
import { bundle } from './bundle.ts';
import { EXPECTED_RESPONSES, sendAll } from './responses.ts';
import { WORKER_SECRET, runChecks } from './checks.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = (path: string): string =>
  join(root, 'test', 'programs', 'runtimes', 'node_modules', path);

/** The part of Vitest's report that the test reads. */
interface Report {
  numTotalTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

/** A runtime that runs the kit's tests, and its options for Vitest. */
interface Runtime {
  name: string;
  path: string;
  version: RegExp;
  command?: string[];
  options?: string[];
}

const node = (major: number): Runtime => ({
  name: `Node ${major}`,
  path: program(`node-${major}/bin/node`),
  version: new RegExp(`^v${major}\\.`),
});
const RUNTIMES: Runtime[] = [
  // Vitest requires a newer Node, but also runs on this one. The generator of the contract does not
  // run on it.
  { ...node(20), options: ['--exclude', 'packages/kit/src/contract/generated.test.ts'] },
  node(22),
  node(24),
  {
    name: 'Bun',
    path: program('@oven/bun-linux-x64/bin/bun'),
    version: /^\d+\.\d+\.\d+$/m,
    // Vitest's processes need an IPC channel that Bun does not have.
    options: ['--pool', 'threads'],
  },
  {
    name: 'Deno',
    path: program('@deno/linux-x64-glibc/deno'),
    version: /^deno /,
    command: ['run', '--allow-all'],
  },
];
const WORKERD = program('@cloudflare/workerd-linux-64/bin/workerd');

// These runtimes are installed only on Linux x64.
const here = RUNTIMES.filter(({ path }) => existsSync(path));
if (here.length < RUNTIMES.length || !existsSync(WORKERD)) {
  test('runtimes are missing only where they are not packaged', () => {
    const missing = [...RUNTIMES.map(({ path }) => path), WORKERD].filter(
      (path) => !existsSync(path),
    );
    console.warn(`${missing.length} runtimes did not run here: ${missing.join(', ')}`);
    expect(process.platform === 'linux' && process.arch === 'x64').toBe(false);
  });
}

test.each(here)(
  "$name passes the kit's test suite",
  async (runtime) => {
    const { path, version, command = [], options = [] } = runtime;
    expect((await promisify(execFile)(path, ['--version'])).stdout).toMatch(version);
    const folder = await mkdtemp(join(tmpdir(), 'sluice-runtime-'));
    const report = join(folder, 'report.json');
    const suite = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', 'packages/kit'];
    const output = ['--reporter=json', `--outputFile=${report}`];
    // Ignores the exit code, because the report lists the failed tests.
    await promisify(execFile)(path, [...command, ...suite, ...options, ...output], {
      cwd: root,
      // Omits Vitest's variables, which would mark the child process as one of Vitest's own
      // workers.
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    }).catch(() => {});
    const { numTotalTests, testResults } = JSON.parse(await readFile(report, 'utf8')) as Report;
    await rm(folder, { recursive: true });
    const failed = testResults
      .filter(({ status }) => status !== 'passed')
      .map(({ name, message, assertionResults }) => ({
        name,
        message,
        tests: assertionResults.filter(({ status }) => status !== 'passed'),
      }));
    expect(failed).toEqual([]);
    expect(numTotalTests).toBeGreaterThan(500);
  },
  300_000,
);

if (existsSync(WORKERD)) {
  test('a Worker returns the same as Node and receives webhooks, as does the example Worker', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-workerd-'));
    const [port, examplePort] = [await findFreePort(), await findFreePort()];
    for (const [name, from] of [
      ['worker.js', './worker.ts'],
      ['example.js', '../../examples/worker.ts'],
    ] as const) {
      await writeFile(join(folder, name), await bundle(`export { default } from '${from}'`));
    }
    await writeFile(
      join(folder, 'config.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .kit), (name = "example", worker = .example)],
  sockets = [
    (name = "http", address = "127.0.0.1:${port}", http = (), service = "main"),
    (name = "other", address = "127.0.0.1:${examplePort}", http = (), service = "example")]);
const kit :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2025-01-01");
const example :Workerd.Worker = (
  modules = [(name = "example.js", esModule = embed "example.js")],
  bindings = [(name = "SLUICE_SECRET", text = "${WORKER_SECRET}")],
  compatibilityDate = "2025-01-01");
`,
    );
    const workerd = spawn(WORKERD, ['serve', 'config.capnp'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    workerd.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    try {
      const response = await until('the Worker responds', () =>
        fetch(`http://127.0.0.1:${port}/`).catch(() => undefined),
      );
      const text = await response.text();
      expect(response.status, text + said).toBe(200);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(await runChecks())));
      for (const each of [port, examplePort]) {
        expect(await sendAll(`http://127.0.0.1:${each}/`, WORKER_SECRET)).toEqual(
          EXPECTED_RESPONSES,
        );
      }
    } finally {
      workerd.kill('SIGKILL');
      await once(workerd, 'exit');
      await rm(folder, { recursive: true });
    }
  });
}
