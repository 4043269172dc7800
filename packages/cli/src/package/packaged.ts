/**
 * Finds the files that the package ships, and writes its commands as the user must type them, in an
 * installed package and in a checkout.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COMMAND_NAMES } from './commandNames.ts';

/** Returns the folder of the built console; undefined if it was not built. */
export const findConsole = (): string | undefined => find('../console', '../../../console/dist');

/** Returns the folder of the documentation; undefined if it was removed. */
export const findDocs = (): string | undefined => find('../docs', '../../../../docs');

/**
 * Returns the path of the module that starts a service with a day of sample data; undefined outside
 * a checkout.
 */
export const findDemo = (): string | undefined => find('../../../demo/src/devDemo.ts');

/** Returns the program as the user must type it: `npx sluice`, or an npm script in a checkout. */
export const sluiceCommand = (): string =>
  import.meta.url.endsWith('.ts') ? 'npm run -s sluice --' : 'npx sluice';

const COMMAND = /\bsluice (?=(--help|[a-z][a-z-]{0,30}))/g;
const NAMES: ReadonlySet<string> = new Set(['--help', ...COMMAND_NAMES]);

/** Rewrites commands in text, such as `sluice dev`, to the form that the user must type. */
export const rewriteCommands = (text: string): string =>
  text.replaceAll(COMMAND, (whole, name: string) =>
    NAMES.has(name) ? `${sluiceCommand()} ` : whole,
  );

const find = (...paths: string[]): string | undefined =>
  paths
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((folder) => existsSync(folder));
