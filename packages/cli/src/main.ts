#!/usr/bin/env node
/** `sluice`: runs what its arguments say; its exit code says how it went. */
import { VERSION } from './version.ts';

const args = process.argv.slice(2);
// The one question that scripts ask often, and that needs nothing.
const code = args.length === 1 && /^(-V|--version)$/.test(args[0]!) ? tellVersion() : await start();
// What is still on its way out goes first; idle connections do not hold up the end.
process.stdout.write('', () => process.exit(code));

function tellVersion(): number {
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
