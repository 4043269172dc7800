/**
 * Checks the parts of a block against each other. Blooms and indices reveal most incomplete
 * responses.
 */
import type { EvmBlock, EvmLog, EvmTransaction } from '../../match/evm/block.ts';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import type { UnverifiedCode } from '@sluice/kit/contract';
import { type Json, hex, list, object, optionalHex, toNumber } from '../json.ts';
import { SourceError } from '../source.ts';
import { type KnownBits, bloomOf, covers, toBloomItem } from './bloom.ts';

/** Returns the hashes of a block's transactions, from full transactions or plain hashes. */
export const hashesOf = (block: Json): string[] =>
  list(block['transactions'], 'transactions').map((item) =>
    typeof item === 'string' ? item : hex(object(item, 'transaction'), 'hash'),
  );

/** A deviation from Ethereum's rules that does not prove that the block is wrong. */
export interface Doubt {
  kind: 'missing' | 'inconsistent';
  code: UnverifiedCode;
  /** Message that names the node and the block. */
  message: string;
}

export interface CheckedParts extends Pick<EvmBlock, 'logs' | 'transactions' | 'proofs'> {
  doubts: Doubt[];
}

export interface AssembledParts extends CheckedParts {
  /** Receipts in transaction order. */
  receipts: Json[];
}

/** Returns the hashes of the transactions that have no receipt in this list. */
export function withoutReceipt(block: Json, receipts: readonly unknown[]): string[] {
  const known = new Set(
    receipts.map((item) =>
      typeof item === 'object' && item !== null ? (item as Json)['transactionHash'] : undefined,
    ),
  );
  return hashesOf(block).filter((hash) => !known.has(hash));
}

/**
 * Returns the receipts by transaction hash; transactions without a receipt are left out. Throws a
 * SourceError unless each receipt belongs to a different transaction of this block, and its logs
 * set every bit of its bloom.
 */
export function checkReceipts(
  name: string,
  block: Json,
  header: BlockHeader,
  answer: unknown,
): Map<string, Json> {
  const hashes = new Set(hashesOf(block));
  if (!Array.isArray(answer)) {
    throw new SourceError(
      'missing',
      `${name}: block ${header.number} has ${hashes.size} transactions but no receipts`,
    );
  }
  const known: KnownBits = new Map();
  const receipts = new Map<string, Json>();
  for (const [n, item] of answer.entries()) {
    if (item === null) continue;
    const receipt = object(item, `${name}: receipt ${n} of block ${header.number}`);
    const hash = hex(receipt, 'transactionHash');
    if (!hashes.has(hash) || receipts.has(hash) || receipt['blockHash'] !== header.hash) {
      throw new SourceError(
        'inconsistent',
        `${name}: receipt ${n} of block ${header.number} belongs to transaction ${hash} in block ${String(
          receipt['blockHash'],
        )}`,
      );
    }
    const logs = logsOf([receipt]).map((log) => toBloomItem(object(log, 'log')));
    const bloom = optionalHex(receipt, 'logsBloom');
    if (bloom !== null && !covers(bloomOf(logs, known), toBytes(bloom))) {
      throw new SourceError(
        'missing',
        `${name}: receipt ${n} of block ${header.number} covers logs that are missing (${logs.length} returned)`,
      );
    }
    receipts.set(hash, receipt);
  }
  return receipts;
}

const toBytes = (data: string): Buffer => Buffer.from(data.slice(2), 'hex');

const logsOf = (receipts: readonly Json[]): unknown[] =>
  receipts.flatMap((receipt) => list(receipt['logs'], 'logs'));

/** Combines the transactions with their receipts, and collects the logs of the receipts. */
export function assemble(
  name: string,
  block: Json,
  header: BlockHeader,
  answer: unknown,
): AssembledParts {
  const doubt = createDoubts(name, header);
  const receipts = checkReceipts(name, block, header, answer);
  const transactions = list(block['transactions'], 'transactions').map((item, n) => {
    // Only hashes were requested, because only the logs are needed here.
    if (typeof item === 'string') return undefined;
    const body = object(item, 'transaction');
    return toTransaction(body, n, receipts.get(hex(body, 'hash')), doubt.add);
  });
  const inOrder = hashesOf(block)
    .map((hash) => receipts.get(hash))
    .filter((receipt) => receipt !== undefined);
  const lacking = transactions.length - inOrder.length;
  if (lacking > 0) {
    doubt.add(
      'missing',
      'receipts',
      `has ${transactions.length} transactions but ${inOrder.length} receipts, even when requested by transaction hash`,
    );
  }
  const logs = checkLogs(name, block, header, logsOf(inOrder), { miscounted: lacking > 0 });
  return {
    logs: logs.logs,
    transactions: transactions.filter((each) => each !== undefined),
    doubts: [...doubt.all, ...logs.doubts],
    receipts: inOrder,
  };
}

/**
 * Returns the logs in order. Throws a SourceError if one belongs to another block or to another
 * transaction than the one at its index, if two have the same log index, or if the logs together do
 * not set every bit of the header's bloom. An index after the last transaction is accepted. Log
 * indices that do not count up from 0 raise a doubt.
 *
 * @param miscounted true if some transactions have no receipt, so that the node may have counted
 * only the others; wrong transaction indices are then corrected and raise a doubt
 */
export function checkLogs(
  name: string,
  block: Json,
  header: BlockHeader,
  raw: readonly unknown[],
  { miscounted }: { miscounted: boolean },
): Omit<CheckedParts, 'transactions'> {
  const doubt = createDoubts(name, header);
  const hashes = hashesOf(block);
  const logs = raw.map((item, n) => {
    const log = object(item, 'log');
    if (log['blockHash'] !== header.hash) {
      throw new SourceError(
        'inconsistent',
        `${name}: a log of block ${header.number} claims to belong to block ${String(log['blockHash'])}`,
      );
    }
    const parsed = toLog(log, n, hashes, doubt.add);
    // Some chains add logs with an index after the last transaction, e.g. Polygon for its state
    // sync.
    const at = hashes[parsed.transactionIndex];
    if (at === undefined || at === parsed.transactionHash) return parsed;
    const transactionIndex = miscounted ? hashes.indexOf(parsed.transactionHash) : -1;
    if (transactionIndex < 0) {
      throw new SourceError(
        'inconsistent',
        `${name}: a log of block ${header.number} claims to belong to transaction ${parsed.transactionHash}, but the transaction at index ${parsed.transactionIndex} is ${at}`,
      );
    }
    doubt.add('inconsistent', 'log-transactions', 'has logs with the index of another transaction');
    return { ...parsed, transactionIndex };
  });
  logs.sort((a, b) => a.logIndex - b.logIndex);
  if (logs.some((log, n) => log.logIndex === logs[n - 1]?.logIndex)) {
    throw new SourceError(
      'inconsistent',
      `${name}: block ${header.number} has two logs with the same index`,
    );
  }
  if (!covers(bloomOf(logs), toBytes(hex(block, 'logsBloom')))) {
    throw new SourceError(
      'missing',
      `${name}: the bloom of block ${header.number} covers logs that are missing (${logs.length} returned)`,
    );
  }
  const last = logs.at(-1)?.logIndex ?? -1;
  if (last !== logs.length - 1) {
    doubt.add('inconsistent', 'log-indices', `has ${logs.length} logs with indices up to ${last}`);
  }
  return { logs, doubts: doubt.all };
}

type AddDoubt = (kind: Doubt['kind'], code: UnverifiedCode, what: string) => void;

/** Collects doubts, one per code. */
function createDoubts(
  name: string,
  { number }: BlockHeader,
): { readonly all: Doubt[]; add: AddDoubt } {
  const all: Doubt[] = [];
  return {
    all,
    add(kind, code, what) {
      if (all.some((each) => each.code === code)) return;
      all.push({ kind, code, message: `${name}: block ${number} ${what}` });
    },
  };
}

/** Reads a quantity. If it is null or missing, adds a doubt and returns null. */
const quantity = (from: Json, key: string, owner: string, doubt: AddDoubt): string | null => {
  const value = optionalHex(from, key);
  if (value === null) {
    doubt('inconsistent', 'null-values', `has a ${owner} whose ${key} is null`);
  }
  return value;
};

/** @param n position in the block, which replaces a missing index */
function toLog(log: Json, n: number, hashes: readonly string[], doubt: AddDoubt): EvmLog {
  const transactionHash = hex(log, 'transactionHash');
  const logIndex = quantity(log, 'logIndex', 'log', doubt);
  const index = quantity(log, 'transactionIndex', 'log', doubt);
  const place = hashes.indexOf(transactionHash);
  return {
    logIndex: logIndex === null ? n : toNumber(logIndex),
    transactionHash,
    transactionIndex: index !== null ? toNumber(index) : place < 0 ? hashes.length : place,
    ...toBloomItem(log),
    data: hex(log, 'data'),
  };
}

/** @param n position in the block, which replaces a missing index */
function toTransaction(
  body: Json,
  n: number,
  receipt: Json | undefined,
  doubt: AddDoubt,
): EvmTransaction {
  const number = (from: Json, key: string): string | null =>
    quantity(from, key, from === body ? 'transaction' : 'receipt', doubt);
  const transactionIndex = number(body, 'transactionIndex');
  return {
    hash: hex(body, 'hash'),
    transactionIndex: transactionIndex === null ? n : toNumber(transactionIndex),
    from: hex(body, 'from').toLowerCase(),
    ...toCall(body, number),
    gas: number(body, 'gas'),
    gasPrice: optionalHex(body, 'gasPrice'),
    nonce: number(body, 'nonce'),
    type: optionalHex(body, 'type'),
    v: optionalHex(body, 'v'),
    r: optionalHex(body, 'r'),
    s: optionalHex(body, 's'),
    receipt: {
      cumulativeGasUsed: receipt === undefined ? null : number(receipt, 'cumulativeGasUsed'),
      gasUsed: receipt === undefined ? null : number(receipt, 'gasUsed'),
      contractAddress: (receipt && optionalHex(receipt, 'contractAddress'))?.toLowerCase() ?? null,
      root: (receipt && optionalHex(receipt, 'root')) ?? null,
      status: (receipt && optionalHex(receipt, 'status')) ?? null,
    },
  };
}

/**
 * Returns the target, value and input of a transaction. For a Tempo transaction (type 0x76), which
 * contains a list of calls, returns the first target and input and the sum of the values, as
 * Tempo's nodes do.
 */
function toCall(
  body: Json,
  number: (from: Json, key: string) => string | null,
): Pick<EvmTransaction, 'to' | 'value' | 'input'> {
  const { calls } = body;
  if (!Array.isArray(calls) || calls.length === 0 || 'input' in body) {
    return {
      to: optionalHex(body, 'to')?.toLowerCase() ?? null,
      value: number(body, 'value'),
      input: hex(body, 'input'),
    };
  }
  const all = calls.map((call) => object(call, 'call'));
  const value = all.reduce((sum, call) => sum + BigInt(hex(call, 'value')), 0n);
  return {
    to: optionalHex(all[0]!, 'to')?.toLowerCase() ?? null,
    value: `0x${value.toString(16)}`,
    input: optionalHex(all[0]!, 'input') ?? hex(all[0]!, 'data'),
  };
}
