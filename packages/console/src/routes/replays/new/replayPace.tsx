/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an inline drawing, not an image file */
import type { ReplayProgress } from '@sluice/kit/sluice';
import { formatCount, formatDuration, formatSpan } from '../../../ui/text/format.ts';

const HEIGHT = 32;
/** Minimum number of steps for a chart. With fewer, the counts above the chart are enough. */
const MIN_STEPS = 5;

/**
 * Charts how many deliveries ended in each step. The delivered part of a bar is above the failed
 * part.
 */
export function ReplayPace({ progress }: { progress: ReplayProgress }) {
  const { stepMs, succeeded, failed } = progress;
  const steps = succeeded.map((count, index) => ({ succeeded: count, failed: failed[index] ?? 0 }));
  const most = Math.max(0, ...steps.map((step) => step.succeeded + step.failed));
  if (steps.length < MIN_STEPS || most === 0) return null;
  const y = (count: number): number => (count / most) * HEIGHT;
  const perSecond = most / (stepMs / 1000);
  const length = stepMs < 60_000 ? formatDuration(stepMs) : formatSpan(stepMs);
  const summary = `Peak: ${formatCount(Math.round(perSecond * 10) / 10)} finished per second`;
  return (
    <div className="px-4 pt-2">
      <svg
        role="img"
        aria-label={summary}
        viewBox={`0 0 ${steps.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="block h-8 w-full border-b border-line"
      >
        {steps.map((step, index) => (
          <g key={index}>
            <rect
              x={index + 0.1}
              y={HEIGHT - y(step.succeeded + step.failed)}
              width={0.8}
              height={y(step.succeeded)}
              fill="var(--color-muted)"
            />
            <rect
              x={index + 0.1}
              y={HEIGHT - y(step.failed)}
              width={0.8}
              height={y(step.failed)}
              fill="var(--color-bad)"
            />
          </g>
        ))}
      </svg>
      <p className="data flex justify-between text-faint max-sm:hidden">
        <span>one bar: {length}</span>
        <span>{summary}</span>
      </p>
    </div>
  );
}
