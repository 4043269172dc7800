/** What comes with the package beside its code: here, or where the tree has it. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder of the built console; undefined where it was not built. */
export const findConsole = (): string | undefined => find('../console', '../../console/dist');

/** Folder of the documentation; undefined where somebody removed it. */
export const findDocs = (): string | undefined => find('../docs', '../../../docs');

/** How this command line is called here: a checkout has no `sluice` on the path. */
export const sluiceCommand = (): string =>
  import.meta.url.endsWith('.ts') ? 'npm run -s sluice --' : 'npx sluice';

const find = (...paths: string[]): string | undefined =>
  paths
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((folder) => existsSync(folder));
