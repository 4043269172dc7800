/**
 * Tests the published command line: a single tarball that runs in an empty folder, without anvil,
 * and on Node 20.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type EvmWebhook, decodeLogs, verifySignature } from '@sluice/kit';
import { readCommit } from '@sluice/service/build';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Packed, packCommand } from '../../scripts/release/packages.ts';
import { anchorsOf } from '../docs/anchors.ts';
import { installInto } from './install.ts';
import { prepareNode20 } from './node20.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-command-'));
const project = join(folder, 'project');
const empty = join(folder, 'empty');
/** Environment variables as on a fresh machine: no anvil, and no `node_modules` on the path. */
const environment = {
  ...process.env,
  NODE_OPTIONS: '',
  NO_COLOR: '1',
  ANVIL_BIN: join(folder, 'no-anvil'),
  XDG_CONFIG_HOME: join(folder, 'config'),
  npm_config_prefer_offline: 'true',
  PATH: (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((path) => !path.includes('node_modules'))
    .join(delimiter),
};
let packed: Packed;
let node20: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  packed = packCommand(folder);
  for (const each of [project, empty]) mkdirSync(each);
  installInto(project, 'module', [packed.tarball]);
  node20 = prepareNode20(folder);
});
afterAll(async () => {
  for (const child of children.filter(({ exitCode, signalCode }) => !exitCode && !signalCode)) {
    process.kill(-child.pid!, 'SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

const main = join(project, 'node_modules', 'sluice', 'dist', 'main.js');

/**
 * Starts a program in its own process group, as a terminal does, so that a signal can reach all of
 * its processes.
 */
function start(
  file: string,
  args: string[],
  cwd: string,
): { child: ChildProcess; output(): string } {
  const child = spawn(file, args, {
    cwd,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { child, output: () => output };
}

test('the tarball is at most 8 MB, depends only on Node, runs no scripts and contains no tests', () => {
  expect(packed.size).toBeGreaterThan(500_000);
  expect(packed.size).toBeLessThanOrEqual(8_000_000);
  const manifest = JSON.parse(
    readFileSync(join(project, 'node_modules', 'sluice', 'package.json'), 'utf8'),
  ) as Record<string, object | undefined>;
  expect(manifest['dependencies']).toBeUndefined();
  expect(manifest['scripts']).toBeUndefined();
  expect(Object.keys(manifest['optionalDependencies']!)).toHaveLength(5);
  expect(packed.files.filter((path) => /\.test|\.ts$/.test(path))).toEqual([]);
  expect(new Set(packed.files.map((path) => path.split('/')[0]))).toEqual(
    new Set([
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md'],
      ...['console', 'dist', 'docs', 'package.json'],
    ]),
  );
  expect(packed.files).toContain('console/index.html');
});

test('links of its README and pages stay within the tarball', () => {
  const root = join(project, 'node_modules', 'sluice');
  const pages = packed.files.filter((path) => path.endsWith('.md'));
  expect(pages).toContain('docs/kit/verify.md');
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8');
    for (const [, link = ''] of text.matchAll(/\]\(([^)]+)\)/g)) {
      if (/^\w+:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(root, page) : join(root, dirname(page), path);
      expect(existsSync(target), `${page}: ${link}`).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(readFileSync(target, 'utf8'))).toContain(anchor);
    }
  }
});

test('an old Node prints version and help, and hands the rest to the pinned one', () => {
  const run = (...args: string[]) =>
    spawnSync(node20, [main, ...args], { cwd: empty, env: environment, encoding: 'utf8' });
  expect(run('--version').stdout).toMatch(/^\d+\.\d+\.\d+ \([0-9a-f]{12}\)\n$/);
  expect(run('--help').stdout).toContain('Common commands:');
  expect(run('doctor', '--api-url', 'http://127.0.0.1:9')).toMatchObject({
    status: 9,
    stdout: expect.stringMatching(/^✓ sluice +\d\S+ on Node 26\./) as string,
  });
  expect(run('docs', 'no_service').stdout).toContain('**Do:** start a service with `sluice dev`');
  const mistyped = run('streams', 'lst');
  expect(mistyped).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Did you mean list?') as string,
  });
  expect(mistyped.stderr).toMatch(
    /\n {2}fix: .* See npx sluice streams --help\n {2}docs: npx sluice docs usage\n$/,
  );
});

test('npx <tarball> dev runs in an empty folder, and listen forwards verified events to an app', async () => {
  const dev = start('npx', ['--yes', `file:${packed.tarball}`, 'dev', '--port', '0'], empty);
  const url = await until(
    'dev is ready',
    () => /API +(http:\S+)/.exec(dev.output())?.[1],
    60_000,
  ).catch((error: Error) => {
    throw new Error(`${error.message}:\n${dev.output()}`);
  });
  await until('dev prints the chain', () =>
    /Chain\s+0x7a69\s+simulated at http/.test(dev.output()),
  );
  await until('a webhook is verified', () =>
    /✓ verified +#\d+ unconfirmed +Transfer [\d.]+ SLD/.test(dev.output()),
  );
  await until('a confirmed webhook is verified', () =>
    /✓ verified +#\d+ confirmed/.test(dev.output()),
  );
  const page = await fetch(new URL('/console/', url));
  expect([page.status, await page.text()]).toEqual([
    200,
    expect.stringContaining('<div id="root">'),
  ]);
  const key = /x-api-key: (\S+)/.exec(dev.output())![1]!;
  const about = await fetch(new URL('/sluice/about', url), { headers: { 'x-api-key': key } });
  expect(await about.json()).toMatchObject({ version: packed.version, commit: readCommit() });

  const secret = execFileSync(node20, [main, 'listen', '--print-secret'], {
    cwd: empty,
    env: environment,
    encoding: 'utf8',
  }).trim();
  const events: string[] = [];
  const receive = async (request: IncomingMessage): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString();
    verifySignature({ body, signature: String(request.headers['x-signature']), secret });
    const webhook = JSON.parse(body) as EvmWebhook;
    if ('abi' in webhook) for (const { name } of decodeLogs(webhook).decoded) events.push(name);
  };
  const app = createServer((request, response) => {
    receive(request).then(
      () => response.end(),
      () => response.writeHead(401).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(app, 'listening');
  const listen = start(
    node20,
    [main, 'listen', String((app.address() as AddressInfo).port)],
    empty,
  );
  await until('the app receives an event', () => events.includes('Transfer')).catch(
    (error: Error) => {
      throw new Error(`${error.message}:\n${listen.output()}`);
    },
  );
  await until('listen reports it', () => /✓ 200 +\d+ ms {2}demo/.test(listen.output()));
  process.kill(-listen.child.pid!, 'SIGINT');
  await once(listen.child, 'exit');
  app.close();

  process.kill(-dev.child.pid!, 'SIGINT');
  await once(dev.child, 'exit');
  await expect(fetch(url)).rejects.toThrow();
});
