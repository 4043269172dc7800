/**
 * The parts of a block, held against each other. What agrees is what the node has of this block; that
 * the node has all of it shows in blooms and indices, as far as they go.
 */
import type { EvmBlock, EvmLog, EvmTransaction } from '../match/block.ts';
import type { BlockHeader } from '../store/store.ts';
import { type KnownBits, bloomOf, covers } from './bloom.ts';
import { type Json, hex, list, object, optionalHex, toNumber } from './json.ts';
import { SourceError } from './source.ts';

/** Hashes of a block's transactions, whether they came whole or as hashes. */
export const hashesOf = (block: Json): string[] =>
  list(block['transactions'], 'transactions').map((item) =>
    typeof item === 'string' ? item : hex(object(item, 'transaction'), 'hash'),
  );

/**
 * Receipts are believed when there is one for each transaction, in order, of this very block, and the
 * logs of each set every bit of its own bloom.
 */
export function checkReceipts(
  name: string,
  block: Json,
  header: BlockHeader,
  answer: unknown,
): Json[] {
  const hashes = hashesOf(block);
  if (!Array.isArray(answer) || answer.length !== hashes.length) {
    throw new SourceError(
      'missing',
      `${name}: block ${header.number} has ${hashes.length} transactions but ${
        Array.isArray(answer) ? answer.length : 'no'
      } receipts`,
    );
  }
  const known: KnownBits = new Map();
  return answer.map((item, n) => {
    const receipt = object(item, `${name}: receipt ${n} of block ${header.number}`);
    if (receipt['transactionHash'] !== hashes[n] || receipt['blockHash'] !== header.hash) {
      throw new SourceError(
        'inconsistent',
        `${name}: receipt ${n} of block ${header.number} belongs to transaction ${String(
          receipt['transactionHash'],
        )} in block ${String(receipt['blockHash'])}`,
      );
    }
    const logs = logsOf([receipt]).map((log) => toLog(object(log, 'log')));
    const bloom = optionalHex(receipt, 'logsBloom');
    if (bloom !== null && !covers(bloomOf(logs, known), toBytes(bloom))) {
      throw new SourceError(
        'missing',
        `${name}: receipt ${n} of block ${header.number} names logs that did not come (${logs.length} did)`,
      );
    }
    return receipt;
  });
}

const toBytes = (data: string): Buffer => Buffer.from(data.slice(2), 'hex');

export const logsOf = (receipts: readonly Json[]): unknown[] =>
  receipts.flatMap((receipt) => list(receipt['logs'], 'logs'));

/** Transactions, each with its receipt, and the logs the receipts carry. */
export function assemble(
  name: string,
  block: Json,
  header: BlockHeader,
  answer: unknown,
): Pick<EvmBlock, 'logs' | 'transactions'> {
  const receipts = checkReceipts(name, block, header, answer);
  const transactions = list(block['transactions'], 'transactions').map((item, n) =>
    toTransaction(object(item, 'transaction'), receipts[n]!),
  );
  return { logs: checkLogs(name, block, header, logsOf(receipts)), transactions };
}

/**
 * Logs of a block are believed when each says it is of that block and of the transaction that stands
 * at its index, their indices count up from 0, and together they set every bit of the header's bloom:
 * a node that lags or a lost log shows there.
 */
export function checkLogs(
  name: string,
  block: Json,
  header: BlockHeader,
  raw: readonly unknown[],
): EvmLog[] {
  const hashes = hashesOf(block);
  const logs = raw.map((item) => {
    const log = object(item, 'log');
    if (log['blockHash'] !== header.hash) {
      throw new SourceError(
        'inconsistent',
        `${name}: a log of block ${header.number} says it is of block ${String(log['blockHash'])}`,
      );
    }
    const parsed = toLog(log);
    // Beyond the last transaction stand logs that a chain itself adds, such as Polygon's state sync.
    const at = hashes[parsed.transactionIndex];
    if (at !== undefined && at !== parsed.transactionHash) {
      throw new SourceError(
        'inconsistent',
        `${name}: a log of block ${header.number} says it is of transaction ${parsed.transactionHash}, but at index ${parsed.transactionIndex} stands ${at}`,
      );
    }
    return parsed;
  });
  logs.sort((a, b) => a.logIndex - b.logIndex);
  if (logs.some((log, n) => log.logIndex !== n)) {
    throw new SourceError(
      'inconsistent',
      `${name}: the logs of block ${header.number} have a hole`,
    );
  }
  if (!covers(bloomOf(logs), toBytes(hex(block, 'logsBloom')))) {
    throw new SourceError(
      'missing',
      `${name}: the bloom of block ${header.number} names logs that did not come (${logs.length} did)`,
    );
  }
  return logs;
}

function toLog(log: Json): EvmLog {
  return {
    logIndex: toNumber(hex(log, 'logIndex')),
    transactionHash: hex(log, 'transactionHash'),
    transactionIndex: toNumber(hex(log, 'transactionIndex')),
    address: hex(log, 'address').toLowerCase(),
    topics: list(log['topics'], 'topics').map((topic) => String(topic).toLowerCase()),
    data: hex(log, 'data'),
  };
}

function toTransaction(body: Json, receipt: Json): EvmTransaction {
  return {
    hash: hex(body, 'hash'),
    transactionIndex: toNumber(hex(body, 'transactionIndex')),
    from: hex(body, 'from').toLowerCase(),
    to: optionalHex(body, 'to')?.toLowerCase() ?? null,
    value: hex(body, 'value'),
    gas: hex(body, 'gas'),
    gasPrice: optionalHex(body, 'gasPrice'),
    nonce: hex(body, 'nonce'),
    input: hex(body, 'input'),
    type: optionalHex(body, 'type'),
    v: optionalHex(body, 'v'),
    r: optionalHex(body, 'r'),
    s: optionalHex(body, 's'),
    receipt: {
      cumulativeGasUsed: hex(receipt, 'cumulativeGasUsed'),
      gasUsed: hex(receipt, 'gasUsed'),
      contractAddress: optionalHex(receipt, 'contractAddress')?.toLowerCase() ?? null,
      root: optionalHex(receipt, 'root'),
      status: optionalHex(receipt, 'status'),
    },
  };
}
