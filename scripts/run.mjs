/**
 * `npm start`, `npm test` and the other scripts that call this file install missing dependencies and
 * run a program on the pinned Node. They forward signals to the program and return its exit code.
 * `build` only installs and builds.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import {
  SetupError,
  ensureConsole,
  ensureNode,
  ensurePackages,
  ensureProgram,
  environment,
  root,
} from './setup.mjs';
import {
  ensureChromium,
  ensureFailover,
  ensureOldestPostgres,
  ensureOptionalPrograms,
  ensurePostgres,
} from './testPrograms.mjs';

const VITEST = ['node_modules/vitest/vitest.mjs', 'run'];
/** Projects that test the published packages. */
const PUBLISHED = ['packed', 'runtimes'];
/** Projects that `npm test` excludes; they have their own commands. */
const STAGES = ['faults', 'browser', 'looks', ...PUBLISHED];
/** Programs that need neither the console's build nor the test programs, by task. */
const PROGRAMS = {
  bench: 'bench/run.ts',
  mutants: 'test/faults/mutants.ts',
  networks: 'scripts/networks/generate.ts',
  pictures: 'test/looks/pictures.ts',
  release: 'scripts/release/release.ts',
  'release:version': 'scripts/release/version.ts',
  site: 'site/build.ts',
  soak: 'test/soak/soak.ts',
  'watch-forks': 'scripts/networks/watchForks.ts',
};
const [task, ...args] = process.argv.slice(2);

endWithNpm();
try {
  await ensurePackages({ withTools: task !== 'start' });
  const node = ensureNode();
  if (task === 'gallery') {
    const config = 'packages/console/gallery/vite.config.ts';
    handOver(node, ['node_modules/vite/bin/vite.js', '--config', config, ...args]);
  } else if (Object.hasOwn(PROGRAMS, task)) {
    const more = task === 'pictures' ? { CHROMIUM_BIN: ensureChromium() } : {};
    handOver(node, ['-C', '@sluice/source', PROGRAMS[task], ...args], more);
  } else {
    ensureConsole(node);
    await run(node);
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  process.stderr.write(`sluice: ${error.message}\n`);
  process.exitCode = 1;
}

async function run(node) {
  if (task === 'start') {
    const command = ['-C', '@sluice/source', 'packages/cli/src/main.ts', 'dev', ...args];
    // The IPC channel closes when this process ends for any reason; the service then stops.
    handOver(node, command, {}, ['inherit', 'inherit', 'inherit', 'ipc']);
  } else if (task === 'test' || task === 'packages') {
    addToPath(ensurePostgres());
    const TESTS_WITHOUT = ensureOptionalPrograms().join(' ');
    const CHROMIUM_BIN = ensureChromium();
    const TESTS_PROGRAM = ensureProgram(node);
    const isChosen = args.some((arg) => arg.startsWith('--project'));
    const projects = task === 'packages' ? PUBLISHED : STAGES.map((project) => `!${project}`);
    const chosen = isChosen ? [] : projects.flatMap((project) => ['--project', project]);
    handOver(node, [...VITEST, ...chosen, ...args], {
      ...(task === 'packages' && { OLDEST_POSTGRES: ensureOldestPostgres() }),
      CHROMIUM_BIN,
      TESTS_PROGRAM,
      TESTS_WITHOUT,
    });
  } else if (task === 'faults') {
    addToPath(ensurePostgres());
    handOver(node, [...VITEST, '--project', 'faults', '--reporter', 'verbose', ...args]);
  } else if (task === 'failover') {
    const patroni = ensureFailover();
    if (patroni !== undefined) addToPath(patroni);
    handOver(node, ['-C', '@sluice/source', 'test/failover/failover.ts', ...args]);
  } else if (task === 'browser' || task === 'looks') {
    const CHROMIUM_BIN = ensureChromium();
    const command = [...VITEST, '--project', task, '--reporter', 'verbose', ...args];
    handOver(node, command, { CHROMIUM_BIN, TESTS_PROGRAM: ensureProgram(node) });
  }
}

/**
 * Adds a folder to the front of PATH, so that the tests prefer its programs to those of the system.
 */
function addToPath(folder) {
  process.env['PATH'] = [folder, process.env['PATH']].join(delimiter);
}

function handOver(node, command, more, stdio = 'inherit') {
  const child = spawn(node, command, { cwd: root, stdio, env: environment(more) });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A terminal also sends Ctrl-C to the child, which ignores the repeated signal.
    process.on(signal, () => child.kill(signal));
  }
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}

/**
 * Ends this process if npm was killed (`kill -9`). Otherwise, this process and npm's shell would
 * continue to run.
 */
function endWithNpm() {
  const npm = findNpm();
  if (npm === undefined) return;
  setInterval(() => {
    try {
      process.kill(npm, 0);
    } catch {
      process.kill(process.pid, 'SIGTERM');
    }
  }, 1_000).unref();
}

/**
 * Returns the process id of the npm that runs this script, usually through a shell; undefined
 * without npm.
 */
function findNpm() {
  if (process.env['npm_lifecycle_event'] === undefined) return undefined;
  const [name = '', parent] = readParent();
  return name.endsWith('sh') && parent > 1 ? parent : process.ppid;
}

/**
 * Returns the name of the parent process and the id of its parent, or an empty list on Windows.
 * Does not use `ps` on Linux, where many containers do not have it.
 */
function readParent() {
  if (process.platform === 'win32') return [];
  if (process.platform === 'linux') {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    const at = stat.lastIndexOf(')');
    return [stat.slice(stat.indexOf('(') + 1, at), Number(stat.slice(at).split(' ')[2])];
  }
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,comm=', '-p', String(process.ppid)]);
  const [parent, name] = String(stdout).trim().split(' ');
  return [name, Number(parent)];
}
