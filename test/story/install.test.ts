/**
 * Tests the first `npm start` of a clone: the installation shows progress and survives
 * interruptions.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@sluice/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

const scripts = fileURLToPath(new URL('../../scripts', import.meta.url));
const PACKAGES = ['a', 'b', '@c/d'];

/**
 * A script that imitates `npm ci`: it creates the folders of all packages, but the files of only
 * one. Once the file `go-on` exists, it writes the other files and then the hidden lockfile. Like
 * npm, it continues after SIGINT and SIGTERM.
 */
const NPM = `#!${process.execPath}
const { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } = require('node:fs');
appendFileSync('npm-calls', process.pid + '\\n');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
const names = ${JSON.stringify(PACKAGES)};
rmSync('node_modules', { recursive: true, force: true });
for (const name of names) mkdirSync('node_modules/' + name, { recursive: true });
writeFileSync('node_modules/a/package.json', '{}');
setInterval(() => {
  if (!existsSync('go-on')) return;
  for (const name of names) writeFileSync('node_modules/' + name + '/package.json', '{}');
  writeFileSync('node_modules/.package-lock.json', require('node:fs').readFileSync('package-lock.json'));
  process.exit(0);
}, 20);
`;

let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-install-'));
  cpSync(scripts, join(folder, 'scripts'), { recursive: true });
  const packages = Object.fromEntries(
    PACKAGES.map((name) => [`node_modules/${name}`, { version: '1.0.0' }]),
  );
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ optionalDependencies: {} }));
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'npm'), NPM);
  chmodSync(join(folder, 'bin', 'npm'), 0o755);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const pid of npmCalls().filter(isAlive)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Starts `scripts/run.mjs build` or a command that runs it. `output` returns its output so far. */
function start(command = [process.execPath, 'scripts/run.mjs', 'build']): {
  child: ChildProcess;
  output(): string;
} {
  const child = spawn(command[0]!, command.slice(1), {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`,
      npm_lifecycle_event: 'start',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  return { child, output: () => output };
}

const npmCalls = (): number[] => {
  const file = join(folder, 'npm-calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
};

/** Returns whether a process is running. A zombie does not count. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const goOn = (): void => writeFileSync(join(folder, 'go-on'), '');

test('progress counts unpacked packages, not empty folders', async () => {
  const { output } = start();
  await until('progress is shown', () => /of 3 packages/.test(output()));
  expect(output()).toMatch(/^sluice: installing packages/);
  expect(output()).toMatch(/^sluice: 1 of 3 packages, \d+ s$/m);
  goOn();
  await until('the packages are installed', () => /^sluice: packages installed in/m.test(output()));
});

test('Ctrl-C also ends npm, and the next start installs', async () => {
  const first = start();
  const npm = await until('npm runs', () => npmCalls()[0]);
  first.child.kill('SIGINT');
  const [code] = await once(first.child, 'close');
  expect(code).toBe(1);
  expect(first.output()).toContain('Run the same command again to install.');
  expect(isAlive(npm)).toBe(false);
  goOn();
  const second = start();
  await until('the packages are installed', () =>
    /^sluice: packages installed in/m.test(second.output()),
  );
  expect(npmCalls()).toHaveLength(2);
});

test('a second start waits for the first to install, and installs nothing', async () => {
  start();
  const npm = await until('npm runs', () => npmCalls()[0]);
  const second = start();
  await until('the second start waits', () =>
    second.output().includes(`waiting for process ${npm},`),
  );
  goOn();
  await until('the second start continues', () => second.child.exitCode !== null);
  expect(second.output()).not.toContain('installing packages (npm ci)');
  expect(npmCalls()).toHaveLength(1);
});

test('after kill -9 of the installer its npm continues, and the next start waits for it', async () => {
  const first = start();
  const npm = await until('npm runs', () => npmCalls()[0]);
  await until('the installation is recorded', () =>
    existsSync(join(folder, '.sluice', 'installing')),
  );
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const second = start();
  await until('the second start waits', () =>
    second.output().includes(`waiting for process ${npm},`),
  );
  process.kill(npm, 'SIGKILL');
  await until('the next start installs', () => npmCalls()[1]);
});

test('kill -9 of npm start leaves no process behind', async () => {
  const asNpmDoes = `require('node:child_process').spawn(
    'sh', ['-c', '${process.execPath} scripts/run.mjs build; exit $?'], { stdio: 'inherit' })`;
  const launcher = start([process.execPath, '-e', asNpmDoes]);
  const npm = await until('npm runs', () => npmCalls()[0]);
  // The pipe closes once the shell and the script have ended.
  const closed = once(launcher.child, 'close');
  launcher.child.kill('SIGKILL');
  await closed;
  expect(isAlive(npm)).toBe(false);
}, 20_000);
