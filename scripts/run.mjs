/**
 * `npm start`, `npm test`, `npm run test:faults`, `test:browser` and `test:looks`: set up what is missing,
 * then hand over to the real program on the pinned Node, passing signals on and its exit code back. `build`
 * sets up and no more.
 */
import { spawn } from 'node:child_process';
import {
  SetupError,
  ensureChromium,
  ensureConsole,
  ensureNode,
  ensurePackages,
  ensurePostgres,
  ensureShells,
  environment,
  root,
} from './setup.mjs';

const VITEST = ['node_modules/vitest/vitest.mjs', 'run'];
/** Projects that are no part of `npm test`: each is a run of its own. */
const STAGES = ['faults', 'browser', 'looks'];
const [task, ...args] = process.argv.slice(2);

try {
  await ensurePackages();
  const node = ensureNode();
  ensureConsole(node);
  if (task === 'start') {
    const command = ['-C', '@sluice/source', 'packages/cli/src/main.ts', 'dev', ...args];
    // The channel closes with this process, however it ends, and the service with it.
    handOver(node, command, {}, ['inherit', 'inherit', 'inherit', 'ipc']);
  } else if (task === 'test') {
    ensurePostgres();
    ensureShells();
    const CHROMIUM_BIN = ensureChromium();
    const isChosen = args.some((arg) => arg.startsWith('--project'));
    const others = STAGES.flatMap((project) => ['--project', `!${project}`]);
    handOver(node, [...VITEST, ...(isChosen ? [] : others), ...args], { CHROMIUM_BIN });
  } else if (task === 'faults') {
    ensurePostgres();
    handOver(node, [...VITEST, '--project', 'faults', '--reporter', 'verbose', ...args]);
  } else if (task === 'browser' || task === 'looks') {
    const CHROMIUM_BIN = ensureChromium();
    const command = [...VITEST, '--project', task, '--reporter', 'verbose', ...args];
    handOver(node, command, { CHROMIUM_BIN });
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  process.stderr.write(`sluice: ${error.message}\n`);
  process.exitCode = 1;
}

function handOver(node, command, more, stdio = 'inherit') {
  const child = spawn(node, command, { cwd: root, stdio, env: environment(more) });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A terminal sends Ctrl-C to the child as well; it ignores what it has heard before.
    process.on(signal, () => child.kill(signal));
  }
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}
