/** Some faults mount a file or a disk of their own, or listen on port 53. */
export const isRoot = process.getuid?.() === 0;

/** @throws Error where we are not root: a fault that is left out is not seen to hold. */
export function needRoot(): void {
  if (isRoot) return;
  throw new Error('This fault needs root: sudo npm run test:faults, or choose others with -t');
}
