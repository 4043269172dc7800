#!/usr/bin/env node
/** The entry point of `sluice`. */
import { fileURLToPath } from 'node:url';
import { describeBuild } from '@sluice/service/build';

const args = process.argv.slice(2);
// `--version` loads no command, because scripts call it often.
const code =
  args.length === 1 && /^(-V|--version)$/.test(args[0]!) ? printVersion() : await start();
// Flushes the output, then exits even if idle connections are open.
process.stdout.write('', () => process.exit(code));

function printVersion(): number {
  process.stdout.write(`${describeBuild()}\n`);
  return 0;
}

async function start(): Promise<number> {
  if (import.meta.url.endsWith('.ts')) await cacheSources();
  const { needsOtherNode, runOnPinnedNode } = await import('./launch.ts');
  if (needsOtherNode(args)) return runOnPinnedNode(process.argv[1]!, args);
  const [{ run }, { createProcessTerminal }] = await Promise.all([
    import('./program.ts'),
    import('./terminal/processTerminal.ts'),
  ]);
  return run(args, createProcessTerminal());
}

/** Keeps compiled sources between starts, so that types are stripped only once. */
async function cacheSources(): Promise<void> {
  const { enableCompileCache } = await import('node:module');
  const folder = new URL('../../../node_modules/.cache/sources', import.meta.url);
  const { directory } = enableCompileCache(fileURLToPath(folder));
  // Worker threads can inherit the cache folder only from the environment.
  if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(folder);
}
