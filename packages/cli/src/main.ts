#!/usr/bin/env node
/** The entry point of `sluice`. */
import { VERSION } from './version.ts';

const args = process.argv.slice(2);
// Scripts call this often, so it loads nothing.
const code =
  args.length === 1 && /^(-V|--version)$/.test(args[0]!) ? printVersion() : await start();
// Flushes the output first; exits even when idle connections are open.
process.stdout.write('', () => process.exit(code));

function printVersion(): number {
  process.stdout.write(`${VERSION}\n`);
  return 0;
}

async function start(): Promise<number> {
  const { needsOtherNode, runOnPinnedNode } = await import('./launch.ts');
  if (needsOtherNode(args)) return runOnPinnedNode(process.argv[1]!, args);
  const [{ run }, { createProcessTerminal }] = await Promise.all([
    import('./program.ts'),
    import('./terminal/processTerminal.ts'),
  ]);
  return run(args, createProcessTerminal());
}
