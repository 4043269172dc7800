/** Formats deliveries as lines. */
import type { DeliverySummary } from '@sluice/kit/sluice';
import { shortenId } from '../connection/shortIds.ts';
import { type LinePart, toLine } from '../terminal/table.ts';
import type { Terminal, Tone } from '../terminal/terminal.ts';

export const PHASES = ['unconfirmed', 'confirmed', 'removed'] as const;

/** The outcome of an attempt. A field is null if it is unknown or does not apply. */
export interface Outcome {
  status: number | null;
  error: string | null;
  durationMs: number | null;
}

const clock = (timeMs: number): string => new Date(timeMs).toISOString().slice(11, 19);

/**
 * Formats a delivery as one line:
 * `10:44:07  ✓ 200    12 ms  whale-usdt  #41 unconfirmed  Transfer 250 USDC  9k2f81aa`
 */
export function deliveryLine(
  terminal: Pick<Terminal, 'tint' | 'width'>,
  delivery: DeliverySummary,
  outcome: Outcome,
  { atMs, indent = 0 }: { atMs: number; indent?: number },
): string {
  const [tone, mark] = markOf(delivery, outcome);
  const status = outcome.status === null ? (outcome.error ? '–' : '') : String(outcome.status);
  const took = outcome.durationMs === null ? '' : `${outcome.durationMs} ms`;
  const parts: LinePart[] = [
    { text: clock(atMs), tone: 'faint' },
    { text: `${mark} ${status.padEnd(3)}`, tone },
    { text: took === '' ? '' : took.padStart(8) },
    { text: delivery.tag || shortenId(delivery.streamId), cut: 'end' },
    { text: `#${delivery.blockNumber} ${delivery.phase}` },
    { text: outcome.error ?? delivery.about, cut: 'end' },
    { text: delivery.id.slice(-8), tone: 'faint', optional: true },
  ];
  return toLine(terminal, parts, indent);
}

function markOf({ state }: DeliverySummary, { status, error }: Outcome): [Tone, string] {
  if (error !== null) return ['bad', '✗'];
  if (status !== null) return ['ok', '✓'];
  if (state === 'cancelled') return ['faint', '⊘'];
  return ['warn', '…'];
}
