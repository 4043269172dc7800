/**
 * Identifies the records of a block, so that two readings of it can be compared. Log indices are
 * left out, because nodes that lack logs count differently; equal logs of a transaction are
 * numbered instead.
 */
import { createHash } from 'node:crypto';
import type { EvmWebhook } from '@sluice/kit/contract';
import type { RecordIds } from '../../../ingest/later/records.ts';
import { isMissing } from './acceptance.ts';
import type { EvmBlock } from '../match/block.ts';

type IdentifiedLog = Pick<
  EvmBlock['logs'][number],
  'transactionHash' | 'address' | 'topics' | 'data'
>;

/** Characters of an id: 66 bits, so a collision within a block is very unlikely. */
const ID_LENGTH = 11;

const digest = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, ID_LENGTH);

/** Returns the ids of logs and transactions, in their order. */
function identify(logs: readonly IdentifiedLog[], transactions: readonly { hash: string }[]) {
  const counts = new Map<string, number>();
  return {
    logs: logs.map(({ transactionHash, address, topics, data }) => {
      const content = [transactionHash, address, topics, data];
      const key = digest(content);
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      return count === 0 ? key : digest([...content, count]);
    }),
    transactions: transactions.map(({ hash }) => digest([hash])),
  };
}

const identifyBlock = ({ logs, transactions }: EvmBlock) => identify(logs, transactions);

/** Start of the ids of traces. */
const TRACE = '~';

/** Returns the id of all records in the trace of a transaction. */
const identifyTrace = (hash: string): string => `${TRACE}${digest([hash])}`;

export const EVM_RECORDS: RecordIds<EvmBlock> = {
  isMissing,
  canVanish: (id) => !id.startsWith(TRACE),
  of(block) {
    const ids = identifyBlock(block);
    const traces = (block.traced ?? []).map(identifyTrace);
    return new Set([...ids.logs, ...ids.transactions, ...traces]);
  },

  ofWebhooks(bodies) {
    const webhooks = bodies.map((body) => JSON.parse(body) as EvmWebhook);
    const logs = webhooks.flatMap((webhook) =>
      webhook.logs.map(({ topic0, topic1, topic2, topic3, ...log }) => ({
        ...log,
        topics: [topic0, topic1, topic2, topic3].filter((topic) => topic !== null),
      })),
    );
    const hashes = webhooks.flatMap(({ txs, calls = [] }) => [
      ...txs.map(({ hash }) => hash),
      ...calls.map(({ transactionHash }) => transactionHash),
    ]);
    const ids = identify(
      logs,
      [...new Set(hashes)].map((hash) => ({ hash })),
    );
    const traces = webhooks.flatMap(({ txsInternal, calls = [] }) => [
      ...txsInternal,
      ...calls.filter(({ traceAddress }) => traceAddress.length > 0),
    ]);
    return new Set([
      ...ids.logs,
      ...ids.transactions,
      ...traces.map(({ transactionHash }) => identifyTrace(transactionHash)),
    ]);
  },

  pick(block, isWanted) {
    const ids = identifyBlock(block);
    const transactions = block.transactions.filter((_, n) => isWanted(ids.transactions[n]!));
    const traced = (block.traced ?? []).filter((hash) => isWanted(identifyTrace(hash)));
    const hashes = new Set(traced);
    return {
      ...block,
      logs: block.logs.filter((_, n) => isWanted(ids.logs[n]!)),
      transactions,
      traced,
      internalTransactions: block.internalTransactions.filter(({ transactionHash }) =>
        hashes.has(transactionHash),
      ),
      ...(block.calls && {
        calls: block.calls.filter(({ transactionHash }) => hashes.has(transactionHash)),
      }),
    };
  },
};
