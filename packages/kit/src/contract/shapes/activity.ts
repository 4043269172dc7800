/** What was delivered over time, and what became of recent blocks: the shapes of charts. */

/** Minutes that a point of a chart stands for. */
export const ACTIVITY_STEPS = [1, 5, 60] as const;

/** Minutes that a point of a chart stands for. */
export type ActivityStep = (typeof ACTIVITY_STEPS)[number];

/**
 * How many points there are at most of each step: counts are kept by the minute for two days, by the hour
 * for eight.
 */
export const MOST_POINTS: Readonly<Record<ActivityStep, number>> = { 1: 1_500, 5: 576, 60: 192 };

export const STREAM_CHANGE_KINDS = [
  'edited',
  'paused',
  'resumed',
  'secret-rotated',
  'failed',
  'recovered',
  'terminated',
] as const;

/**
 * `failed`, `recovered` and `terminated` are what the service itself says of a stream whose receiver fails;
 * the others somebody did.
 */
export type StreamChangeKind = (typeof STREAM_CHANGE_KINDS)[number];

/** Of which streams, and how many of each chain's newest blocks. */
export interface ListTapes {
  /** At most 200; one that is not there has no tape. */
  streamIds: readonly string[];
  /** At most 200, 60 by default. */
  limit?: number | undefined;
}

/** Which attempts a chart shows, and how finely. */
export interface ActivityQuery {
  readonly streamId?: string | undefined;
  /** Minutes of a point. */
  readonly step?: ActivityStep | undefined;
  /** At most `MOST_POINTS` of the step: 1,500, 576 or 192. */
  readonly points?: number | undefined;
}
