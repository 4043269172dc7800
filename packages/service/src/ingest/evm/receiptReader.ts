/** Reads the logs and transactions of a block with the methods that the node supports. */
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type Json, list } from '../json.ts';
import { isOfKind } from '../source.ts';
import {
  type AssembledParts,
  type CheckedParts,
  assemble,
  checkLogs,
  withoutReceipt,
} from './blockParts.ts';
import type { Prover } from './proof/prover.ts';
import type { Provider } from './provider.ts';

export interface ReceiptReader {
  /** Reads the transactions with their receipts and logs. */
  readAll(node: Provider, block: Json, header: BlockHeader): Promise<AssembledParts>;
  /**
   * Reads only the logs, which is less work for most nodes. Falls back to `readAll` if the list of
   * logs is incomplete, missing or too large.
   */
  readLogs(node: Provider, block: Json, header: BlockHeader): Promise<CheckedParts>;
}

/** Maximum number of concurrent requests for single receipts of a block. */
const RECEIPTS_AT_ONCE = 16;

/** @param prover proves the transactions and receipts of a block if the chain requires proofs */
export function createReceiptReader(prover: Pick<Prover, 'check'>): ReceiptReader {
  /** Providers that are known not to support `eth_getBlockReceipts`. */
  const withoutBlockReceipts = new Set<Provider>();

  /** Lists the receipts of a block; undefined if they must be read one by one. */
  const listReceipts = async (node: Provider, block: Json): Promise<unknown> => {
    if (withoutBlockReceipts.has(node)) return undefined;
    try {
      return await node.request('eth_getBlockReceipts', [block['hash']]);
    } catch (error) {
      if (isOfKind(error, 'unsupported')) withoutBlockReceipts.add(node);
      else if (!isOfKind(error, 'too-large')) throw error;
      return undefined;
    }
  };

  const readReceipts = async (node: Provider, block: Json): Promise<unknown> => {
    const listed = await listReceipts(node, block);
    if (listed !== undefined && !Array.isArray(listed)) return listed;
    const receipts: unknown[] = listed ?? [];
    const others = await readOneByOne(node, withoutReceipt(block, receipts));
    // If a transaction is in two blocks, the node may return its receipt from the other block.
    return [...receipts, ...others.filter((receipt) => isOfBlock(receipt, block))];
  };

  const readAll: ReceiptReader['readAll'] = async (node, block, header) => {
    const answer = await readReceipts(node, block);
    const parts = assemble(node.name, block, header, answer);
    if (parts.doubts.length === 0 && parts.transactions.length === parts.receipts.length) {
      await prover.check(node, block, parts.receipts);
    }
    return parts;
  };

  const readLogs: ReceiptReader['readLogs'] = async (node, block, header) => {
    try {
      const answer = await node.request('eth_getLogs', [{ blockHash: header.hash }]);
      const raw = list(answer, `${node.name}: logs`);
      const checked = checkLogs(node.name, block, header, raw, { miscounted: true });
      if (checked.doubts.length === 0) return { ...checked, transactions: [] };
    } catch (error) {
      if (!isOfKind(error, 'too-large', 'missing')) throw error;
    }
    // Receipts contain all logs, even those that the node's list of logs omits.
    const { receipts: _receipts, ...parts } = await readAll(node, block, header);
    return parts;
  };

  return { readAll, readLogs };
}

async function readOneByOne(node: Provider, hashes: readonly string[]): Promise<unknown[]> {
  const receipts: unknown[] = [];
  for (let start = 0; start < hashes.length; start += RECEIPTS_AT_ONCE) {
    const some = hashes.slice(start, start + RECEIPTS_AT_ONCE);
    receipts.push(
      ...(await Promise.all(some.map((hash) => node.request('eth_getTransactionReceipt', [hash])))),
    );
  }
  return receipts;
}

const isOfBlock = (receipt: unknown, block: Json): boolean =>
  typeof receipt === 'object' &&
  receipt !== null &&
  (receipt as Json)['blockHash'] === block['hash'];
