import { installLocked } from '../installLocked.ts';

export default function setup(): void {
  const folder = new URL('../programs/runtimes/', import.meta.url);
  installLocked(folder, 'the runtimes and frameworks that the packages support');
}
