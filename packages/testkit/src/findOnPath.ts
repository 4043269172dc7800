import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/**
 * Returns the path of the first executable file with this name in the PATH (on Windows,
 * `<name>.exe`); undefined if there is none.
 */
export function findOnPath(name: string): string | undefined {
  const fileName = process.platform === 'win32' ? `${name}.exe` : name;
  return (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => path.join(folder, fileName))
    .find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
