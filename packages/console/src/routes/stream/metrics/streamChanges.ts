/** Describes the changes to a stream, and computes the positions of their labels in a chart. */
import type { Activity, StreamChange, StreamChangeKind } from '@sluice/kit/sluice';
import { formatKey } from '../../../words/names.ts';

const MINUTE_MS = 60_000;

const WORDS: Readonly<Record<StreamChangeKind, string>> = {
  edited: 'edited',
  paused: 'paused',
  resumed: 'resumed',
  'secret-rotated': 'secret rotated',
  'secret-overlap-ended': 'secret overlap ended',
  failed: 'set to error by the service',
  recovered: 'active again: the receiver recovered',
  terminated: 'terminated: it was in error for too long',
};

/**
 * Describes a change, such as `edited topic0, abi by maya`. A change by the service itself has no
 * key.
 */
export const describeChange = ({ kind, fields, by }: Omit<StreamChange, 'at'>): string =>
  [
    WORDS[kind],
    ...(fields.length > 0 ? [fields.join(', ')] : []),
    ...(by === null ? [] : [`by ${formatKey(by)}`]),
  ].join(' ');

export interface PlacedChange {
  /** Index of the step in which the change was made. */
  index: number;
  words: string;
}

/**
 * Returns the changes within the period of a chart, with the steps in which they were made, oldest
 * first.
 */
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

/** Share of the chart's width that a label needs. */
const LABEL_ROOM = 0.14;

export interface ChangeLabel {
  /** Left edge of the label as a share of the chart's width, from 0 to 1. */
  place: number;
  /** Width available to the label, as a share of the chart's width. */
  room: number;
  text: string;
  /** Descriptions of all changes that the label combines, one per line. */
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
