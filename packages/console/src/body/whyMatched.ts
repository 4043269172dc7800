/** Why each record of a webhook is in it, from what the service explains of its block. Pure. */
import type { ExplainedRecord, Explanation } from '@sluice/kit/sluice';
import type { DecodedRecord } from './decoded.ts';

export interface Why {
  taken: boolean;
  /** For people: what let it pass, or of one that would not match now what stops it. */
  reasons: string[];
}

export interface WhyMatched {
  /** Undefined where nothing is known of this record. */
  of(record: Pick<DecodedRecord, 'place' | 'txHash'>): Why | undefined;
  /** The stream was changed after the delivery was made: it is judged by what it is now. */
  isByNewRules: boolean;
}

/** What decides for a record; that its kind is included at all says the least. */
const TELLING = new Set(['address', 'event', 'filter', 'along']);

/** Null where the block cannot be read any more. */
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
    // A place such as `log 214`; internal transactions and those of Aptos have none.
    of({ place, txHash }) {
      const here =
        place === ''
          ? (byPlace.get(`${txHash} internalTransaction`) ??
            byTransaction.get(txHash)?.filter(({ kind }) => kind === 'transaction'))
          : byPlace.get(`${txHash} ${place}`);
      return tellAlike(here ?? []);
    },
    isByNewRules: stream.changedAt > madeAt,
  };
}

/** Of several that it may be, where all would be told the same. */
function tellAlike(records: readonly ExplainedRecord[]): Why | undefined {
  const [why, ...others] = records.map(tell);
  const text = JSON.stringify(why);
  return others.every((other) => JSON.stringify(other) === text) ? why : undefined;
}

function tell({ taken, reasons }: ExplainedRecord): Why {
  const fitting = reasons.filter(({ outcome }) => outcome === (taken ? 'passed' : 'stopped'));
  const telling = fitting.filter(({ stage }) => TELLING.has(stage));
  return { taken, reasons: (telling.length > 0 ? telling : fitting).map(({ what }) => what) };
}
