import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder of the built console: beside us in the package, or as the tree builds it; undefined where it was not built. */
export function findConsole(): string | undefined {
  return ['../console', '../../console/dist']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((folder) => existsSync(folder));
}
