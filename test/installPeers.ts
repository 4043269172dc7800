import { installLocked } from './installLocked.ts';

export default function setup(): void {
  installLocked(new URL('./peers/', import.meta.url), 'the official client and other peers');
}
