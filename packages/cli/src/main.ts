#!/usr/bin/env node
/** `sluice`: runs what its arguments say; its exit code says how it went. */
import { run } from './program.ts';
import { createProcessTerminal } from './terminal/processTerminal.ts';

const code = await run(process.argv.slice(2), createProcessTerminal());
// What is still on its way out goes first; idle connections do not hold up the end.
process.stdout.write('', () => process.exit(code));
