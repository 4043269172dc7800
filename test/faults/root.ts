/**
 * Whether the process runs as root. Tests of some faults need root, because they mount a file or a
 * disk, or listen on port 53.
 */
export const isRoot = process.getuid?.() === 0;

/**
 * @throws Error if the process is not root, because a skipped test would look like a passed one.
 */
export function requireRoot(): void {
  if (isRoot) return;
  throw new Error('This fault needs root. Run sudo npm run test:faults, or choose others with -t.');
}
