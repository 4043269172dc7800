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
  const byTransaction = Map.groupBy(stream.records, ({ transactionHash }) => transactionHash);
  return {
    of({ place, txHash }) {
      const here = byTransaction.get(txHash) ?? [];
      const [only, ...others] = here.filter((each) => isAt(each, place));
      return only === undefined || others.length > 0 ? undefined : tell(only);
    },
    isByNewRules: stream.changedAt > madeAt,
  };
}

/** A place such as `log 214`; internal transactions and those of Aptos have none. */
function isAt({ kind, index }: ExplainedRecord, place: string): boolean {
  if (place.startsWith('log ')) return kind === 'log' && place === `log ${index}`;
  if (place !== '') return kind === 'transaction' && place === `transaction ${index}`;
  return kind !== 'log';
}

function tell({ taken, reasons }: ExplainedRecord): Why {
  const fitting = reasons.filter(({ outcome }) => outcome === (taken ? 'passed' : 'stopped'));
  const telling = fitting.filter(({ stage }) => TELLING.has(stage));
  return { taken, reasons: (telling.length > 0 ? telling : fitting).map(({ what }) => what) };
}
