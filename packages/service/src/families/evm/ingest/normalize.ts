/**
 * Reads the parts of a block as what they mean, although some chains write them in other ways than
 * Ethereum, and checks that the parts are complete. Deviations with one certain meaning become a
 * note; parts that are missing or contradict each other become a finding.
 */
import { isDeepStrictEqual } from 'node:util';
import type { UnverifiedCode } from '@sluice/kit/contract';
import type { EvmFee, EvmLog, EvmTransaction } from '../match/block.ts';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import {
  type Json,
  readHex,
  toList,
  toObject,
  optionalHex,
  showValue,
  toHex,
} from '../../../ingest/json.ts';
import { SourceError } from '../../../ingest/source.ts';
import { BLOOM_BYTES, type KnownBits, bloomOf, covers } from './bloom.ts';
import { readAddress, emitterOf, readNumber, optionalAddress, optionalQuantity } from './values.ts';

/** A check that a block did not pass. */
export interface Finding {
  code: UnverifiedCode;
  /**
   * `failed`: everything that the check needs was understood, and it does not hold.
   * `not-applicable`: something that the check needs is missing or unknown.
   */
  result: 'failed' | 'not-applicable';
  /** Description that is the same for every block with this problem. */
  reason: string;
}

export interface Parts {
  /** Logs in log order. */
  logs: EvmLog[];
  /** Transactions in transaction order; empty if the block was read with plain hashes. */
  transactions: EvmTransaction[];
}

export interface NormalizedParts extends Parts {
  findings: Finding[];
  /** Codes of deviations that were read as what they mean, without duplicates. */
  notes: UnverifiedCode[];
}

/** Returns the hashes of a block's transactions, from full transactions or plain hashes. */
export const hashesOf = (block: Json): string[] =>
  toList(block['transactions'], 'transactions').map((item) =>
    typeof item === 'string' ? item : readHex(toObject(item, 'transaction'), 'hash'),
  );

/** The receipts of a block, sorted. */
export interface SortedReceipts {
  /** The receipt of each transaction, in transaction order; undefined if it is missing. */
  inOrder: (Json | undefined)[];
  /** Receipts of the block whose transaction is not in its list of transactions. */
  others: Json[];
  notes: UnverifiedCode[];
  findings: Finding[];
}

/** Assigns receipts to the transactions of a block. A list that is null has no receipts. */
export function sortReceipts(block: Json, header: BlockHeader, answer: unknown): SortedReceipts {
  const hashes = hashesOf(block);
  const places = new Map(hashes.map((each, n) => [each, n]));
  const sorted: SortedReceipts = {
    inOrder: hashes.map(() => undefined),
    others: [],
    notes: [],
    findings: [],
  };
  for (const item of Array.isArray(answer) ? answer : []) {
    if (item === null) continue;
    const receipt = toObject(item, 'receipt');
    const hash = readHex(receipt, 'transactionHash');
    const place = places.get(hash);
    const isOfBlock =
      receipt['blockHash'] === header.hash || (receipt['blockHash'] == null && place !== undefined);
    if (!isOfBlock) sorted.notes.push('foreign-receipts');
    else if (place === undefined) sorted.others.push(receipt);
    else if (sorted.inOrder[place] === undefined) sorted.inOrder[place] = receipt;
    else if (isDeepStrictEqual(sorted.inOrder[place], receipt)) {
      sorted.notes.push('repeated-receipts');
    } else {
      sorted.findings.push(failed('receipts', 'a transaction has two different receipts'));
    }
  }
  return sorted;
}

const failed = (code: UnverifiedCode, reason: string): Finding => ({
  code,
  reason,
  result: 'failed',
});

const notApplicable = (code: UnverifiedCode, reason: string): Finding => ({
  code,
  reason,
  result: 'not-applicable',
});

/** A log, and the place of its transaction in the block. */
interface PlacedLog {
  log: Json;
  transactionHash: string;
  transactionIndex: number;
}

/**
 * Combines the transactions of a block with their receipts, whose logs are the logs of the block.
 *
 * @param isProven whether the roots of the header prove the transactions and receipts; the places
 * in the lists then decide all indices
 */
export function fromReceipts(
  block: Json,
  header: BlockHeader,
  { inOrder, others, ...sorted }: SortedReceipts,
  isProven: boolean,
): NormalizedParts {
  const notes = new Set(sorted.notes);
  const findings = [...sorted.findings];
  const hashes = hashesOf(block);
  if (inOrder.includes(undefined)) {
    findings.push(failed('receipts', 'a transaction has no receipt'));
  }
  if (others.length > 0) {
    const reason = 'receipts of transactions that are not in the block';
    findings.push(notApplicable('log-transactions', reason));
  }
  const placed: PlacedLog[] = [];
  const known: KnownBits = new Map();
  for (const [n, receipt] of [...inOrder, ...others].entries()) {
    if (receipt === undefined) continue;
    const transactionHash = hashes[n] ?? readHex(receipt, 'transactionHash');
    const logs = toList(receipt['logs'] ?? [], 'logs').map((item) => toObject(item, 'log'));
    for (const log of logs) {
      placed.push({ log, transactionHash, transactionIndex: n });
      if (isProven) continue;
      if ((log['blockHash'] ?? header.hash) !== header.hash) {
        findings.push(failed('receipts', 'a receipt has a log of another block'));
      }
      const claims = [log['transactionHash'] ?? transactionHash, claimedIndex(log) ?? n];
      if (claims[0] !== transactionHash || claims[1] !== n) notes.add('log-transactions');
    }
    const promised = declaredBloom(receipt);
    if (promised !== undefined && !covers(bloomOf(logs.map(emitterOf), known), promised)) {
      findings.push(failed('bloom', 'the bloom of a receipt covers logs that are missing'));
    }
  }
  const transactions = toList(block['transactions'], 'transactions').flatMap((item, n) =>
    // Only hashes were requested if only the logs are needed.
    typeof item === 'string'
      ? []
      : [
          toTransaction(toObject(item, 'transaction'), n, inOrder[n], () =>
            notes.add('null-values'),
          ),
        ],
  );
  const logs = isProven ? placed.map(toLog) : numberLogs(placed, findings, notes);
  if (!isProven) checkBloom(block, logs, findings);
  return { logs, transactions, findings: withoutRepeats(findings), notes: [...notes] };
}

/**
 * Reads the logs that `eth_getLogs` returned for a block.
 *
 * @throws SourceError `inconsistent` if a log belongs to another block
 */
export function fromLogs(block: Json, header: BlockHeader, answer: unknown): NormalizedParts {
  const hashes = hashesOf(block);
  const places = new Map(hashes.map((each, n) => [each, n]));
  const notes = new Set<UnverifiedCode>();
  const findings: Finding[] = [];
  const placed: PlacedLog[] = [];
  const seen = new Map<string, Json>();
  for (const item of toList(answer, 'logs')) {
    const log = toObject(item, 'log');
    const id = JSON.stringify([log['transactionHash'], log['logIndex'] ?? placed.length]);
    if (isDeepStrictEqual(seen.get(id), log)) {
      notes.add('repeated-receipts');
      continue;
    }
    seen.set(id, log);
    if (log['blockHash'] !== header.hash || log['removed'] === true) {
      throw new SourceError(
        'inconsistent',
        `a log claims to belong to block ${showValue(log['blockHash'])}`,
      );
    }
    const transactionHash = readHex(log, 'transactionHash');
    const claimed = claimedIndex(log);
    const place = places.get(transactionHash);
    // Some chains add logs of no transaction, with an index after the last one.
    const transactionIndex = place ?? Math.max(claimed ?? hashes.length, hashes.length);
    if (claimed !== undefined && claimed !== transactionIndex) notes.add('log-transactions');
    placed.push({ log, transactionHash, transactionIndex });
  }
  placed.sort((a, b) => a.transactionIndex - b.transactionIndex);
  const logs = numberLogs(placed, findings, notes);
  checkBloom(block, logs, findings);
  return { logs, transactions: [], findings: withoutRepeats(findings), notes: [...notes] };
}

/** Keeps one finding per code, and prefers a failed check. */
function withoutRepeats(findings: readonly Finding[]): Finding[] {
  const byCode = new Map<UnverifiedCode, Finding>();
  for (const each of findings) {
    if (byCode.get(each.code)?.result !== 'failed') byCode.set(each.code, each);
  }
  return [...byCode.values()];
}

const claimedIndex = (log: Json): number | undefined =>
  log['transactionIndex'] == null ? undefined : readNumber(log, 'transactionIndex');

const toLog = ({ log, ...place }: PlacedLog, logIndex: number): EvmLog => ({
  logIndex,
  ...place,
  ...emitterOf(log),
  data: readHex(log, 'data'),
});

/**
 * Returns the logs in the order of their indices. If indices repeat, numbers the logs from 0 in
 * block order: some chains count in each transaction.
 *
 * @param placed in block order
 */
function numberLogs(
  placed: readonly PlacedLog[],
  findings: Finding[],
  notes: Set<UnverifiedCode>,
): EvmLog[] {
  const given = placed.map(({ log }) =>
    log['logIndex'] == null ? null : readNumber(log, 'logIndex'),
  );
  if (given.includes(null)) {
    notes.add('null-values');
    return placed.map(toLog);
  }
  if (new Set(given).size < given.length) {
    notes.add('log-indices');
    const isCounted = placed.every(
      ({ transactionIndex }, n) =>
        n === 0 ||
        placed[n - 1]!.transactionIndex !== transactionIndex ||
        given[n] === given[n - 1]! + 1,
    );
    if (!isCounted) findings.push(failed('log-indices', 'log indices repeat in a transaction'));
    return placed.map(toLog);
  }
  const logs = placed
    .map((each, n) => toLog(each, given[n]!))
    .toSorted((a, b) => a.logIndex - b.logIndex);
  const last = logs.at(-1)?.logIndex ?? -1;
  if (last !== logs.length - 1) {
    findings.push(failed('log-indices', 'log indices do not count up from 0'));
  }
  return logs;
}

/** Returns the bloom of a block or receipt; undefined if it does not describe its logs. */
export function declaredBloom(from: Json): Uint8Array | undefined {
  const text = optionalHex(from, 'logsBloom');
  if (text === null) return undefined;
  const bloom = Buffer.from(text.slice(2), 'hex');
  const isPromise =
    bloom.length === BLOOM_BYTES &&
    bloom.some((byte) => byte !== 0xff) &&
    // The bloom covers the blocks that this block settles, not its own logs (ACP-194).
    from['settledHeight'] == null;
  return isPromise ? bloom : undefined;
}

/** Checks that the logs set every bit of the block's bloom. */
function checkBloom(block: Json, logs: readonly EvmLog[], findings: Finding[]): void {
  const promised = declaredBloom(block);
  if (promised === undefined) {
    findings.push(notApplicable('bloom', 'the bloom of the header does not describe the logs'));
    return;
  }
  const bloom = bloomOf(logs);
  if (!covers(bloom, promised)) {
    findings.push(failed('bloom', `the bloom of the header covers logs that are missing`));
  } else if (!covers(promised, bloom)) {
    findings.push(notApplicable('bloom', 'the block has logs that the bloom does not cover'));
  }
}

/** @param onNull called if a number is null or missing */
function toTransaction(
  body: Json,
  transactionIndex: number,
  receipt: Json | undefined,
  onNull: () => void,
): EvmTransaction {
  const noted = (from: Json, key: string): string | null => {
    const value = optionalQuantity(from, key);
    if (value === null) onNull();
    return value;
  };
  return {
    hash: readHex(body, 'hash'),
    transactionIndex,
    from: readAddress(body, 'from'),
    ...toCall(body, noted),
    gas: noted(body, 'gas'),
    gasPrice: optionalQuantity(body, 'gasPrice'),
    nonce: noted(body, 'nonce'),
    type: optionalQuantity(body, 'type'),
    v: optionalQuantity(body, 'v'),
    r: optionalQuantity(body, 'r'),
    s: optionalQuantity(body, 's'),
    receipt: {
      cumulativeGasUsed: receipt === undefined ? null : noted(receipt, 'cumulativeGasUsed'),
      gasUsed: receipt === undefined ? null : noted(receipt, 'gasUsed'),
      contractAddress: receipt === undefined ? null : optionalAddress(receipt, 'contractAddress'),
      root: (receipt && optionalHex(receipt, 'root')) ?? null,
      status: (receipt && optionalQuantity(receipt, 'status')) ?? null,
      fee: (receipt && toFee(body, receipt)) ?? null,
    },
  };
}

/**
 * Returns what a transaction paid. The price in the transaction of a mined block is the price that
 * was paid, unless the receipt has another one, as on Arbitrum. A value with an unknown form, or a
 * price in the currency of a token, as on Celo, gives no fee; the block itself does not depend on it.
 */
function toFee(body: Json, receipt: Json): EvmFee | null {
  if (body['feeCurrency'] != null) return null;
  try {
    const price =
      optionalQuantity(receipt, 'effectiveGasPrice') ?? optionalQuantity(body, 'gasPrice');
    const l1Fee = optionalQuantity(receipt, 'l1Fee') ?? '0x0';
    return price === null ? null : { price, l1Fee };
  } catch (error) {
    if (error instanceof SourceError) return null;
    throw error;
  }
}

/**
 * Returns the target, value and input of a transaction. For a transaction with a list of calls, such
 * as Tempo's type 0x76 and Base's type 0x7d (EIP-8130, in groups of calls), returns the first target
 * and input and the sum of the values, as Tempo's nodes do.
 */
function toCall(
  body: Json,
  noted: (from: Json, key: string) => string | null,
): Pick<EvmTransaction, 'to' | 'value' | 'input'> {
  const calls = Array.isArray(body['calls']) ? (body['calls'] as unknown[]).flat() : [];
  if (calls.length === 0 || body['input'] != null) {
    return {
      to: optionalAddress(body, 'to'),
      value: noted(body, 'value'),
      input: inputOf(body) ?? '0x',
    };
  }
  const all = calls.map((call) => toObject(call, 'call'));
  const value = all.reduce((sum, call) => sum + BigInt(optionalQuantity(call, 'value') ?? 0), 0n);
  return {
    to: optionalAddress(all[0]!, 'to'),
    value: toHex(value),
    input: inputOf(all[0]!) ?? '0x',
  };
}

const inputOf = (from: Json): string | null =>
  optionalHex(from, 'input') ?? optionalHex(from, 'data');
