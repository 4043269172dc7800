/** Finds the delivery of the same match in the other phase, among the rows of a list. */
import type { DeliverySummary } from '@sluice/kit/sluice';

type Rows = readonly DeliverySummary[];

export interface DeliveryPairs {
  /** Updates the index to these rows, and returns a function that finds the pair of a row. */
  follow(rows: Rows): PairOf;
}

export type PairOf = (
  row: Pick<DeliverySummary, 'matchId' | 'phase'>,
) => DeliverySummary | undefined;

/**
 * Creates an index that is updated rather than rebuilt, because only a few of up to 100,000 rows
 * change at a time.
 */
export function createDeliveryPairs(): DeliveryPairs {
  const unconfirmed = new Map<string, DeliverySummary>();
  /** Index of confirmed deliveries and removal webhooks. */
  const final = new Map<string, DeliverySummary>();
  let known: Rows = [];

  const indexOf = ({ phase }: Pick<DeliverySummary, 'phase'>) =>
    phase === 'unconfirmed' ? unconfirmed : final;
  const forget = (row: DeliverySummary): void => {
    const index = indexOf(row);
    if (index.get(row.matchId) === row) index.delete(row.matchId);
  };
  const learn = (row: DeliverySummary): void => {
    const index = indexOf(row);
    const other = index.get(row.matchId);
    if (other === undefined || other.id <= row.id) index.set(row.matchId, row);
  };

  const pairOf: PairOf = ({ matchId, phase }) =>
    (phase === 'unconfirmed' ? final : unconfirmed).get(matchId);

  return {
    follow(rows) {
      let old = 0;
      let next = 0;
      while (old < known.length || next < rows.length) {
        const before = known[old];
        const now = rows[next];
        // The old and the new rows have the same order. A row that is in only one of the two lists
        // was removed or added.
        if (before === now) {
          old++;
          next++;
        } else if (before !== undefined && (now === undefined || before.id >= now.id)) {
          forget(before);
          old++;
        } else if (now !== undefined) {
          learn(now);
          next++;
        }
      }
      known = rows;
      return pairOf;
    },
  };
}
