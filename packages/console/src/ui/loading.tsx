import { clsx } from 'clsx';
import { useLoading } from './keys/heldKeys.ts';

/** Shown in the place of something that loads; keys wait meanwhile. */
export function Loading({ className }: { className?: string }) {
  useLoading();
  return <p className={clsx('animate-late text-faint', className)}>Loading</p>;
}
