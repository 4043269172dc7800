/** Explains why each record of an EVM block matches a stream or does not. */
import type { ExplainReason, ExplainedRecord } from '@sluice/kit/contract';
import type { EvmBlock } from './block.ts';
import {
  type EvmRecord,
  SPAM_REASON,
  matchBlock,
  type CompiledStream,
  type EvmStreams,
} from './match.ts';
import { explainRecords } from '../../../match/explain.ts';
import { passed, stopped } from '../../../match/reasons.ts';
import { hasOverlap } from './transfers.ts';

/**
 * Returns the records that were checked or matched, by stream id. `transactions` limits them to the
 * records of these transactions. Streams without such records are omitted.
 */
export function explainBlock(
  index: EvmStreams,
  chain: string,
  block: EvmBlock,
  {
    spam,
    transactions,
  }: {
    spam?: ReadonlySet<string> | undefined;
    transactions?: ReadonlySet<string> | undefined;
  },
): Map<string, ExplainedRecord[]> {
  return explainRecords<CompiledStream, EvmRecord>(
    (addReasonOf) =>
      matchBlock(index, chain, block, spam, addReasonOf).map((match) => [
        match.stream,
        [...match.logs, ...match.transactions, ...match.internalTransactions, ...match.calls],
      ]),
    (record, stream, { isIncluded, reasons }) => {
      if (transactions?.has(hashOf(record)) === false) return undefined;
      const isStopped = reasons.length === 0 || reasons.some(isStop);
      const isAdmitted = admits(reasons);
      return {
        ...placeOf(record),
        included: isIncluded,
        reasons: [
          ...reasons,
          ...(isIncluded && 'logIndex' in record && hasOverlap(record)
            ? [passed('records', OVERLAPPING)]
            : []),
          ...(isIncluded && !isAdmitted ? [passed('along', alongOf(stream, record))] : []),
          ...(!isIncluded && !isStopped ? [stopped('spam', SPAM_REASON)] : []),
        ],
      };
    },
  );
}

const OVERLAPPING =
  'its two arrays overlap in its data, so it is in logs but not decoded into nftTransfers';

const isStop = ({ outcome }: ExplainReason): boolean => outcome === 'stopped';

/**
 * Returns whether the record matched on its own: it passed all checks, or at least one of several
 * filters and all other checks.
 */
function admits(reasons: readonly ExplainReason[]): boolean {
  if (reasons.length === 0) return false;
  const filters = reasons.filter(({ stage }) => stage === 'filter');
  const others = reasons.filter(({ stage }) => stage !== 'filter');
  return !others.some(isStop) && (filters.length === 0 || !filters.every(isStop));
}

const hashOf = (record: EvmRecord): string =>
  'hash' in record ? record.hash : record.transactionHash;

function placeOf(
  record: EvmRecord,
): Pick<ExplainedRecord, 'kind' | 'index' | 'transactionHash' | 'traceAddress'> {
  const transactionHash = hashOf(record);
  if ('traceAddress' in record) {
    const { transactionIndex: index, traceAddress } = record;
    return { kind: 'call', index, traceAddress: [...traceAddress], transactionHash };
  }
  if ('logIndex' in record) return { kind: 'log', index: record.logIndex, transactionHash };
  return 'hash' in record
    ? { kind: 'transaction', index: record.transactionIndex, transactionHash }
    : { kind: 'internalTransaction', index: record.index, transactionHash };
}

function alongOf({ record: { options } }: CompiledStream, record: EvmRecord): string {
  if ('logIndex' in record) return 'includeAllTxLogs: another record of its transaction matched';
  const flag = 'hash' in record ? 'includeNativeTxs' : 'includeInternalTxs';
  return options.allAddresses
    ? `allAddresses with ${flag}: a log of its transaction matched`
    : 'an advanced option with includeNativeTxs matched one of its logs';
}
