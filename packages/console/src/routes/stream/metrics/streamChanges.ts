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

export interface PlacedChange {
  /** Step of the chart. */
  index: number;
  words: string;
}

/** Returns the changes within the period of a chart, and their steps, oldest first. */
export function placeChanges(
  changes: readonly StreamChange[],
  { stepMinutes, result }: Pick<Activity, 'stepMinutes' | 'result'>,
): PlacedChange[] {
  const from = result[0]?.at ?? 0;
  return changes
    .map((change) => ({
      index: Math.floor((change.at - from) / (stepMinutes * MINUTE_MS)),
      words: describeChange(change),
    }))
    .filter(({ index }) => index >= 0 && index < result.length)
    .toReversed();
}

/** Share of the width that a label needs. */
const LABEL_ROOM = 0.14;

export interface ChangeLabel {
  /** Shares of the width, from 0 to 1. */
  place: number;
  room: number;
  text: string;
  /** The words of each change. */
  title: string;
}

/** Returns a label for each change, or for several that are close to each other. */
export function labelChanges(changes: readonly PlacedChange[], count: number): ChangeLabel[] {
  const groups: { place: number; words: string[] }[] = [];
  for (const { index, words } of changes) {
    const place = count < 2 ? 0 : index / (count - 1);
    const last = groups.at(-1);
    if (last !== undefined && place - last.place < LABEL_ROOM) last.words.push(words);
    else groups.push({ place, words: [words] });
  }
  return groups.map(({ place, words }, index) => ({
    place,
    room: (groups[index + 1]?.place ?? Math.max(1, place + LABEL_ROOM)) - place,
    text: words.length === 1 ? words[0]! : `${words.length} changes`,
    title: words.join('\n'),
  }));
}
