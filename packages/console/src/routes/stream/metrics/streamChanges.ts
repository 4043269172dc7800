/** Describes the changes of a stream, and places them in a chart. Pure. */
import type { Activity, StreamChange, StreamChangeKind } from '@sluice/kit/sluice';
import { formatKey } from '../../../words/names.ts';

const MINUTE_MS = 60_000;

const WORDS: Readonly<Record<StreamChangeKind, string>> = {
  edited: 'edited',
  paused: 'paused',
  resumed: 'resumed',
  'secret-rotated': 'secret rotated',
  failed: 'set to error: the receiver kept failing',
  recovered: 'active again: the receiver recovered',
  terminated: 'terminated: it was in error for too long',
};

/** Describes a change: `edited topic0, abi by maya`. Changes by the service itself name no key. */
export const describeChange = ({ kind, fields, by }: Omit<StreamChange, 'at'>): string =>
  [
    WORDS[kind],
    ...(fields.length > 0 ? [fields.join(', ')] : []),
    ...(by === null ? [] : [`by ${formatKey(by)}`]),
  ].join(' ');

/** Returns the changes within the period of a chart, and their steps, oldest first. */
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
