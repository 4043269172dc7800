/** Logs and transactions of a block out of its receipts, however a node gives them. */
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type CheckedParts, assemble, checkLogs, withoutReceipt } from './blockParts.ts';
import { type Json, list } from '../json.ts';
import type { Provider } from './provider.ts';
import { isOfKind } from '../source.ts';

export interface ReceiptReader {
  /** Transactions with their logs. */
  readAll(node: Provider, block: Json, header: BlockHeader): Promise<CheckedParts>;
  /** Logs alone, which most nodes list at less cost. */
  readLogs(node: Provider, block: Json, header: BlockHeader): Promise<CheckedParts>;
}

/** Receipts asked for at once where a node gives them only one by one. */
const RECEIPTS_AT_ONCE = 16;

export function createReceiptReader(): ReceiptReader {
  /** Providers found not to offer `eth_getBlockReceipts`. */
  const withoutBlockReceipts = new Set<Provider>();

  /** Undefined where the node gives receipts only one by one. */
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
    // The same transaction may be in two blocks of a chain: its receipt is then that of the other one.
    return [...receipts, ...others.filter((receipt) => isOfBlock(receipt, block))];
  };

  const readAll: ReceiptReader['readAll'] = async (node, block, header) =>
    assemble(node.name, block, header, await readReceipts(node, block));

  const readLogs: ReceiptReader['readLogs'] = async (node, block, header) => {
    try {
      const answer = await node.request('eth_getLogs', [{ blockHash: header.hash }]);
      const raw = list(answer, `${node.name}: logs`);
      const checked = checkLogs(node.name, block, header, raw, { miscounted: true });
      if (checked.doubts.length === 0) return { ...checked, transactions: [] };
    } catch (error) {
      if (!isOfKind(error, 'too-large', 'missing')) throw error;
    }
    // Receipts hold the same logs: all of them where the node gives only so many at once, and those
    // of transactions that its list leaves out.
    return readAll(node, block, header);
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
