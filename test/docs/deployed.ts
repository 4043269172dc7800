/** Reads the repository's files, and the program's settings, for the tests of `deploy/`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sluice } from '../../packages/cli/src/terminal/scripted.test-only.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const help = (await sluice(['serve', '--help'])).stdout;
/** All variables that `sluice serve` reads. */
export const variables: readonly string[] = help.match(/SLUICE_\w+/g)!;
/** All flags of `sluice serve`. */
export const flags: readonly string[] = help.match(/--[a-z-]+/g)!;

/** Number of seconds that the stop timeouts must exceed, so that attempts in flight can end. */
export const DRAIN_S = 20;
