import { clsx } from 'clsx';
import type { Condition, Shape, Tone } from '../condition.ts';

const TONES: Record<Tone, string> = {
  ok: 'text-ok',
  muted: 'text-muted',
  info: 'text-info',
  warn: 'text-warn',
  bad: 'text-bad',
  reorg: 'text-reorg',
  faint: 'text-faint',
};

/** Healthy states keep a quiet word; only trouble colours it. */
const LOUD: ReadonlySet<Tone> = new Set(['warn', 'bad', 'reorg']);

const stroke = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.5 } as const;

const SHAPES: Record<Shape, React.ReactNode> = {
  disc: <circle cx="6" cy="6" r="4" fill="currentColor" />,
  ring: <circle cx="6" cy="6" r="3.5" {...stroke} />,
  dashed: <circle cx="6" cy="6" r="3.5" {...stroke} strokeDasharray="2.2 1.5" />,
  half: (
    <>
      <circle cx="6" cy="6" r="3.5" {...stroke} />
      <path d="M6 2.5a3.5 3.5 0 0 1 0 7z" fill="currentColor" />
    </>
  ),
  triangle: <path d="M6 1.5 11 10.5H1z" fill="currentColor" />,
  bars: <path d="M2.5 2h2.5v8H2.5zM7 2h2.5v8H7z" fill="currentColor" />,
  cross: <path d="m2.5 2.5 7 7m0-7-7 7" {...stroke} />,
  exclamation: <path d="M5 1h2v6.5H5zM5 9h2v2H5z" fill="currentColor" />,
};

export function StatusShape({ condition }: { condition: Condition }) {
  return (
    <svg
      viewBox="0 0 12 12"
      aria-hidden="true"
      className={clsx('size-2.5 shrink-0', TONES[condition.tone])}
    >
      {SHAPES[condition.shape]}
    </svg>
  );
}

/** Shape and word; the word stays readable where the colour is not seen. */
export function Status({
  condition,
  className,
  role,
}: {
  condition: Condition;
  className?: string;
  role?: 'cell';
}) {
  return (
    <span
      role={role}
      className={clsx('inline-flex items-center gap-1.5 whitespace-nowrap', className)}
    >
      <StatusShape condition={condition} />
      <span className={LOUD.has(condition.tone) ? TONES[condition.tone] : 'text-muted'}>
        {condition.word}
      </span>
    </span>
  );
}
