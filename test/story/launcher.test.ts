/**
 * Tests that the service exits when its launcher is killed: with `npm start` in a checkout, and
 * with `sluice` on an old version of Node.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isFolderLocked } from '@sluice/service/folderLock';
import { until } from '@sluice/testkit';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sluice-launcher-'));
const launchers: ChildProcess[] = [];
afterAll(() => {
  for (const launcher of launchers) launcher.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const main = join(root, 'packages/cli/src/main.ts');
const launch = pathToFileURL(join(root, 'packages/cli/src/launch.ts')).href;
/**
 * Returns arguments that imitate `main.ts` on an old version of Node. The script is a file, because
 * the child inherits the launcher's flags: it would also run a script that was passed with `-e`.
 */
const onOldNode = (args: string[]): string[] => {
  const script = join(folder, 'oldNode.mjs');
  writeFileSync(
    script,
    `import { runOnPinnedNode } from '${launch}';
    await runOnPinnedNode('${main}', ${JSON.stringify(args)}, process.execPath);`,
  );
  return ['-C', '@sluice/source', script];
};

test.each<[string, (data: string) => string[], RegExp]>([
  [
    'npm start',
    (data) => ['scripts/run.mjs', 'start', '--port', '0', '--no-open', '--data', data],
    /API +http/,
  ],
  [
    'sluice on an old Node',
    (data) => onOldNode(['serve', '--port', '0', '--data', data]),
    /listening on/,
  ],
])(
  'kill -9 of %s leaves no service behind',
  async (name, toArgs, isReady) => {
    const data = join(folder, name.replaceAll(' ', '-'));
    const launcher = spawn(process.execPath, toArgs(data), {
      cwd: root,
      env: { ...process.env, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    launchers.push(launcher);
    let output = '';
    for (const stream of [launcher.stdout, launcher.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    }
    await until('the service is ready', () => isReady.test(output), 60_000).catch(
      (error: Error) => {
        throw new Error(`${error.message}:\n${output}`);
      },
    );
    expect(isFolderLocked(data)).toBe(true);
    launcher.kill('SIGKILL');
    await once(launcher, 'exit');
    await until('the ledger is unlocked', () => !isFolderLocked(data), 30_000);
  },
  120_000,
);
