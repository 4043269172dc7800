import { clsx } from 'clsx';

export function Method({ method }: { method: string }) {
  const tone = { GET: 'text-info', DELETE: 'text-bad' }[method] ?? 'text-warn';
  return <span className={clsx('data w-12 shrink-0 font-medium', tone)}>{method}</span>;
}
