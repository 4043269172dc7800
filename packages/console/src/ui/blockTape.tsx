/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an inline drawing, not an image file */
import { memo } from 'react';
import type { Tape, Tick, TickFill } from '../tape.ts';

/** Pixels per block, of which the tick takes `width`. */
const SIZES = {
  row: { step: 3, width: 2, height: 18 },
  chain: { step: 4, width: 3, height: 24 },
  dry: { step: 8, width: 6, height: 32 },
  wide: { step: 9, width: 6, height: 40 },
} as const;
type Size = (typeof SIZES)[keyof typeof SIZES];

/** A block without matches is a dash on the base line. */
const BASE = 1.5;

const COLORS: Record<TickFill, string> = {
  empty: 'var(--color-line-strong)',
  unknown: 'var(--color-line)',
  hollow: 'var(--color-text)',
  solid: 'var(--color-text)',
  waiting: 'var(--color-info)',
  failed: 'var(--color-bad)',
  reorged: 'var(--color-reorg)',
};

function tickShape({ number, height, fill }: Tick, index: number, size: Size) {
  const x = index * size.step;
  const tall = height === 0 ? BASE : Math.max(4, Math.round(height * (size.height - 1)));
  const y = size.height - tall;
  const color = COLORS[fill];
  const key = `${number}${fill === 'reorged' ? 'r' : ''}`;
  if (fill === 'hollow' && size.width < 3) {
    // Too thin for an outline: dimmer says the same.
    return (
      <rect key={key} x={x} y={y} width={size.width} height={tall} fill="var(--color-faint)" />
    );
  }
  if (fill === 'hollow') {
    return (
      <rect
        key={key}
        x={x + 0.5}
        y={y + 0.5}
        width={size.width - 1}
        height={tall - 1}
        fill="none"
        stroke={color}
        strokeWidth="1"
      />
    );
  }
  return (
    <g key={key}>
      <rect x={x} y={y} width={size.width} height={tall} fill={color} />
      {fill === 'reorged' && (
        <path
          d={`M${x - 1.5} ${size.height - 1}L${x + size.width + 1.5} ${y}`}
          stroke={color}
          strokeWidth="1"
        />
      )}
    </g>
  );
}

/**
 * One tick per block, newest at the right; height is what matched. The notch on the base line
 * marks the last final block.
 */
export const BlockTape = memo(function BlockTape({
  tape,
  length,
  label,
  size: sizeName = 'row',
}: {
  tape: Tape;
  size?: keyof typeof SIZES;
  /** Room for this many ticks; a young chain leaves the left empty. */
  length: number;
  label: string;
}) {
  const size = SIZES[sizeName];
  const width = length * size.step;
  const height = size.height + 3;
  const offset = (length - tape.ticks.length) * size.step;
  const boundary = (length - tape.unconfirmed) * size.step - 1;
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      className="block shrink-0 overflow-visible"
    >
      <g transform={`translate(${offset} 0)`}>
        {tape.ticks.map((tick, index) => tickShape(tick, index, size))}
      </g>
      {tape.unconfirmed > 0 && tape.unconfirmed < length && (
        <rect x={boundary} y={size.height + 1} width="1" height="2" fill="var(--color-muted)" />
      )}
    </svg>
  );
});
