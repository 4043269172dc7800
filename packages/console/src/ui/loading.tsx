import { clsx } from 'clsx';
import { useLoading } from './keys/heldKeys.ts';

/** Placeholder for loading content; keys are queued in the meantime. */
export function Loading({ className }: { className?: string }) {
  useLoading();
  return <p className={clsx('animate-late text-faint', className)}>Loading</p>;
}
