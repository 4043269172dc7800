/** Why the records of an EVM block concern each stream, or do not. Pure. */
import type { ExplainReason, ExplainedRecord } from '@sluice/kit/contract';
import type { EvmBlock } from './block.ts';
import {
  type EvmRecord,
  SPAM,
  matchBlock,
  type CompiledStream,
  type StreamIndex,
} from './match.ts';
import { explainRecords } from '../explain.ts';
import { passed, stopped } from '../reasons.ts';
import { hasOverlap } from './transfers.ts';

/**
 * By stream, the records that it was asked of and those that it takes; of these transactions alone where
 * hashes are given. Streams that none of them concerns are left out.
 */
export function explainBlock(
  index: StreamIndex,
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
    (tellOf) =>
      matchBlock(index, chain, block, spam, tellOf).map((match) => [
        match.stream,
        [...match.logs, ...match.transactions, ...match.internalTransactions],
      ]),
    (record, stream, { isTaken, reasons }) => {
      if (transactions?.has(hashOf(record)) === false) return undefined;
      const isStopped = reasons.length === 0 || reasons.some(isStop);
      const isAdmitted = admits(reasons);
      return {
        ...placeOf(record),
        taken: isTaken,
        reasons: [
          ...reasons,
          ...(isTaken && 'logIndex' in record && hasOverlap(record)
            ? [passed('records', OVERLAPPING)]
            : []),
          ...(isTaken && !isAdmitted ? [passed('along', alongOf(stream, record))] : []),
          ...(!isTaken && !isStopped ? [stopped('spam', SPAM)] : []),
        ],
      };
    },
  );
}

const OVERLAPPING =
  'its two arrays overlap in its data: it is in logs, and not decoded to nftTransfers';

const isStop = ({ outcome }: ExplainReason): boolean => outcome === 'stopped';

/** Whether it was taken for itself: nothing stopped it, or of several filters not all did. */
function admits(reasons: readonly ExplainReason[]): boolean {
  if (reasons.length === 0) return false;
  const filters = reasons.filter(({ stage }) => stage === 'filter');
  const others = reasons.filter(({ stage }) => stage !== 'filter');
  return !others.some(isStop) && (filters.length === 0 || !filters.every(isStop));
}

const hashOf = (record: EvmRecord): string =>
  'hash' in record ? record.hash : record.transactionHash;

function placeOf(record: EvmRecord): Pick<ExplainedRecord, 'kind' | 'index' | 'transactionHash'> {
  const transactionHash = hashOf(record);
  if ('logIndex' in record) return { kind: 'log', index: record.logIndex, transactionHash };
  return 'hash' in record
    ? { kind: 'transaction', index: record.transactionIndex, transactionHash }
    : { kind: 'internalTransaction', index: record.index, transactionHash };
}

function alongOf({ record: { options } }: CompiledStream, record: EvmRecord): string {
  if ('logIndex' in record) return 'another record of its transaction was taken: includeAllTxLogs';
  const flag = 'hash' in record ? 'includeNativeTxs' : 'includeInternalTxs';
  return options.allAddresses
    ? `a log of its transaction was taken: allAddresses with ${flag}`
    : 'a log of it was taken by an advanced option with includeNativeTxs';
}
