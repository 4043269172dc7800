import { clsx } from 'clsx';
import { useLoading } from './keys/heldKeys.ts';

/** Shows a placeholder for content that is loading. Keys typed in the meantime are queued. */
export function Loading({ className }: { className?: string }) {
  useLoading();
  return <p className={clsx('animate-late text-faint', className)}>Loading</p>;
}
