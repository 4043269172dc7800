/** What was done to a stream, in words and in a chart. Pure. */
import type { Activity, StreamChange, StreamChangeKind } from '@sluice/kit/sluice';
import { formatKey } from '../../../words/names.ts';

const MINUTE_MS = 60_000;

const WORDS: Readonly<Record<StreamChangeKind, string>> = {
  edited: 'edited',
  paused: 'paused',
  resumed: 'resumed',
  'secret-rotated': 'new secret',
  failed: 'set to error: its receiver kept failing',
  recovered: 'active again: its receiver is back',
  terminated: 'terminated: it was in error for too long',
};

/** `edited topic0, abi by maya`; what the service did itself is by nobody. */
export const describeChange = ({ kind, fields, by }: Omit<StreamChange, 'at'>): string =>
  [
    WORDS[kind],
    ...(fields.length > 0 ? [fields.join(', ')] : []),
    ...(by === null ? [] : [`by ${formatKey(by)}`]),
  ].join(' ');

/** Where in a chart the changes were that came within its time, oldest first. */
export function placeChanges(
  changes: readonly StreamChange[],
  { stepMinutes, result }: Pick<Activity, 'stepMinutes' | 'result'>,
): { index: number; words: string }[] {
  const from = result[0]?.at ?? 0;
  return changes
    .map((change) => ({
      index: Math.floor((change.at - from) / (stepMinutes * MINUTE_MS)),
      words: describeChange(change),
    }))
    .filter(({ index }) => index >= 0 && index < result.length)
    .toReversed();
}
