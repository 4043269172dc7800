#!/usr/bin/env node
/** `sluice`: runs what its arguments say; its exit code says how it went. */
import { fileURLToPath } from 'node:url';
import { needsOtherNode, runOnPinnedNode } from './launch.ts';
import { run } from './program.ts';
import { createProcessTerminal } from './terminal/processTerminal.ts';

const args = process.argv.slice(2);
const code = needsOtherNode(args)
  ? await runOnPinnedNode(fileURLToPath(import.meta.url), args)
  : await run(args, createProcessTerminal());
// What is still on its way out goes first; idle connections do not hold up the end.
process.stdout.write('', () => process.exit(code));
