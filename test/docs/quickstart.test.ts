/** Follows docs/quickstart.md step by step, from nothing to a verified event in an app. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { findFreePort, until } from '@sluice/testkit';
import { afterAll, expect, test } from 'vitest';
import {
  CLEARED,
  type PseudoTerminal,
  startOnTerminal,
} from '../../packages/cli/src/terminal/pseudoTerminal.test-only.ts';
import { sluice } from '../../packages/cli/src/terminal/scripted.test-only.ts';
import { prints } from './programs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs', 'quickstart.md'), 'utf8');
/**
 * A git-ignored folder in the repository, so that imports resolve as they do for a reader who
 * follows the page.
 */
const folder = join(root, '.sluice', `quickstart-${process.pid}`);
const children: ChildProcess[] = [];
let listening: PseudoTerminal | undefined;

afterAll(async () => {
  listening?.kill();
  for (const child of children) {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the code blocks of the page in this language, in order. */
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );

/** Starts a program in the folder, and returns a function that returns the output so far. */
function run(args: string[], env: Record<string, string> = {}): () => string {
  const child = spawn(process.execPath, ['-C', '@sluice/source', ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return () => output;
}

test('npm start, an app, sluice listen, a stream: each prints the output on the page', async () => {
  mkdirSync(folder, { recursive: true });
  const [app = ''] = blocksOf('ts');
  const [started = '', forwarding = '', received = ''] = blocksOf('text');
  const commands = blocksOf('sh').flatMap((block) => block.trim().split('\n'));
  const argsOf = (command: string): string[] =>
    commands
      .find((each) => each.includes(`sluice -- ${command}`))!
      .split(' ')
      .slice(5);

  // `npm start` runs `sluice dev`.
  const dev = run([join(root, 'packages/cli/src/main.ts'), 'dev', '--port', '0']);
  const url = await until('the service is ready', () => /API +(http:\S+)/.exec(dev())?.[1]);
  const toReader = (text: string): string => text.replaceAll(url, 'http://127.0.0.1:4400');
  await expect.poll(() => prints(started, toReader(dev()), 'lines in it') || dev()).toBe(true);

  const port = String(await findFreePort());
  writeFileSync(join(folder, 'app.ts'), app.replace('3000', port));
  const { stdout: secret } = await sluice(['listen', '--print-secret'], { cwd: folder });
  expect(commands.join('\n')).toContain('npm run -s sluice -- listen --print-secret');
  const events = run(['app.ts'], { SLUICE_SECRET: secret.trim() });
  // The app must listen before the next command forwards webhooks to it.
  await until('the app listens', () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    ),
  );

  const env = { XDG_CONFIG_HOME: folder };
  listening = startOnTerminal(['listen', port], { columns: 80, cwd: folder, env });
  const screens = (): string =>
    stripVTControlCharacters(listening!.written().replaceAll('\r', '').replaceAll(CLEARED, '\n'));
  /** Returns the screens without older rows, because the page shows only the newest row. */
  const newest = (): string => screens().replaceAll(/^ {2}\d\d:.*\n/gm, '');
  await until('listen forwards', () =>
    prints(forwarding, newest().replaceAll(port, '3000'), 'lines in it'),
  );
  await until('the app gets a verified event', () =>
    prints(received, events(), 'lines in it'),
  ).catch((error: Error) => {
    throw new Error(`${error.message}:\n${events()}${screens()}`);
  });

  const created = await sluice(argsOf('streams create'), { cwd: folder });
  expect(created, created.stderr).toMatchObject({ code: 0 });
}, 60_000);
