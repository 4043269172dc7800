import { clsx } from 'clsx';

type Shape = 'disc' | 'ring' | 'dashed' | 'half' | 'triangle' | 'bars' | 'cross' | 'exclamation';
export type Tone = 'ok' | 'muted' | 'info' | 'warn' | 'bad' | 'reorg' | 'faint';

/** A state as a shape, a word and a color, so that it is recognizable without the color. */
export interface Condition {
  shape: Shape;
  word: string;
  tone: Tone;
}

const TONES: Record<Tone, string> = {
  ok: 'text-ok',
  muted: 'text-muted',
  info: 'text-info',
  warn: 'text-warn',
  bad: 'text-bad',
  reorg: 'text-reorg',
  faint: 'text-faint',
};

/** Tones of problem states, in which the word is colored like the shape. */
const LOUD: ReadonlySet<Tone> = new Set(['warn', 'bad', 'reorg']);

export function StatusShape({ condition }: { condition: Condition }) {
  return (
    <span
      aria-hidden="true"
      className={clsx('shape', `shape-${condition.shape}`, TONES[condition.tone])}
    />
  );
}

/** Shows a state as a shape and a word. */
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
