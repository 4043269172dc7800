import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder of the built console, or undefined where it was not built. */
export function findConsole(): string | undefined {
  const folder = fileURLToPath(new URL('../../console/dist', import.meta.url));
  return existsSync(folder) ? folder : undefined;
}
