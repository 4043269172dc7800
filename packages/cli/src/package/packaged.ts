/** What comes with the package beside its code: here, or where the tree has it. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COMMAND_NAMES } from './commandNames.ts';

/** Folder of the built console; undefined where it was not built. */
export const findConsole = (): string | undefined => find('../console', '../../../console/dist');

/** Folder of the documentation; undefined where somebody removed it. */
export const findDocs = (): string | undefined => find('../docs', '../../../../docs');

/** Module that starts a service on a day of sample data; undefined outside of a checkout. */
export const findDemo = (): string | undefined => find('../../../demo/src/devDemo.ts');

/** How this command line is called here: a checkout has no `sluice` on the path. */
export const sluiceCommand = (): string =>
  import.meta.url.endsWith('.ts') ? 'npm run -s sluice --' : 'npx sluice';

const COMMAND = /\bsluice (?=(--help|[a-z][a-z-]{0,30}))/g;
const NAMES: ReadonlySet<string> = new Set(['--help', ...COMMAND_NAMES]);

/** A text of the command line or the service with its commands (`sluice dev`) as they are typed here. */
export const spellCommands = (text: string): string =>
  text.replaceAll(COMMAND, (whole, name: string) =>
    NAMES.has(name) ? `${sluiceCommand()} ` : whole,
  );

const find = (...paths: string[]): string | undefined =>
  paths
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((folder) => existsSync(folder));
