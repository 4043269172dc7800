/** Finds why each record of a webhook matched, using the result of Explain for its block. */
import type { ExplainedRecord, Explanation } from '@sluice/kit/sluice';
import type { DecodedRecord } from './decodedRecord.ts';

export interface MatchReasons {
  included: boolean;
  /** Readable reasons why the record passed, or why it would not match now. */
  reasons: string[];
}

export interface WhyMatched {
  /** Returns the reasons; undefined if they are unknown or ambiguous for this record. */
  of(record: Pick<DecodedRecord, 'place' | 'txHash'>): MatchReasons | undefined;
  /** True if the stream has changed since the delivery, so that the reasons use the new rules. */
  usesNewRules: boolean;
}

/**
 * Stages whose reasons are shown alone if there are any, because the reasons of other stages, such
 * as the kind of record, explain little.
 */
const DECIDING_STAGES = new Set(['address', 'event', 'filter', 'along']);

/**
 * Returns a lookup of reasons by record; null if no records are explained, for example because the
 * block is no longer available.
 */
export function toWhyMatched(
  { streams: [stream] }: Pick<Explanation, 'streams'>,
  madeAt: number,
): WhyMatched | null {
  if (stream === undefined || stream.records.length === 0) return null;
  const byPlace = Map.groupBy(stream.records, ({ kind, index, transactionHash }) =>
    kind === 'internalTransaction'
      ? `${transactionHash} ${kind}`
      : `${transactionHash} ${kind} ${index}`,
  );
  const byTransaction = Map.groupBy(stream.records, ({ transactionHash }) => transactionHash);
  return {
    // A place is, for example, `log 214`. It is empty for internal transactions and balances, and
    // in families whose records have no index.
    of({ place, txHash }) {
      const here =
        place === ''
          ? (byPlace.get(`${txHash} internalTransaction`) ??
            byTransaction.get(txHash)?.filter(({ kind }) => kind === 'transaction'))
          : byPlace.get(`${txHash} ${place}`);
      return reasonIfAlike(here ?? []);
    },
    usesNewRules: stream.changedAt > madeAt,
  };
}

/** Returns the reasons if they are the same for all candidates; otherwise undefined. */
function reasonIfAlike(records: readonly ExplainedRecord[]): MatchReasons | undefined {
  const [why, ...others] = records.map(whyOf);
  const text = JSON.stringify(why);
  return others.every((other) => JSON.stringify(other) === text) ? why : undefined;
}

function whyOf({ included, reasons }: ExplainedRecord): MatchReasons {
  const fitting = reasons.filter(({ outcome }) => outcome === (included ? 'passed' : 'stopped'));
  const deciding = fitting.filter(({ stage }) => DECIDING_STAGES.has(stage));
  return {
    included,
    reasons: (deciding.length > 0 ? deciding : fitting).map(({ message }) => message),
  };
}
