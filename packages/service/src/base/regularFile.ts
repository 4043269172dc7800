/** Reads files that people name in settings. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/**
 * Reads a text file.
 *
 * @throws Error if the file cannot be read, has more than `maxBytes`, or is not a regular file:
 * devices may be endless, and pipes may block
 */
export function readRegularFile(path: string, maxBytes: number): string {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error('should be a regular file');
    if (stats.size > maxBytes) throw new Error(`should have at most ${maxBytes} bytes`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
