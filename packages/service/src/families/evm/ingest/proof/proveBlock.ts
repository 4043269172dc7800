/**
 * Proves the contents of a block: rebuilds the transactions root and the receipts root from a
 * node's response and compares them with the header. Fields that the roots do not cover are
 * computed and compared.
 */
import { keccak256 } from '@sluice/kit/contract';
import type { BlockProofs } from '../../match/block.ts';
import { type Json, readHex, toList, toObject } from '../../../../ingest/json.ts';
import { SourceError } from '../../../../ingest/source.ts';
import type { KnownBits } from '../bloom.ts';
import type { Network } from '../networks.ts';
import type { Finding } from '../normalize.ts';
import { readQuantity } from '../values.ts';
import { bytesOf, quantityOf } from './fields.ts';
import { encodeReceipt, withBaseFee } from './receipts.ts';
import { encodeRlp } from './rlp.ts';
import { LEGACY_TYPE, encodeTransaction, isStandardType, typeOf } from './transactions.ts';
import { EMPTY_ROOT, createListTrie } from './trie.ts';

/** A transaction of a block and its receipt. */
interface Entry {
  transaction: Json;
  receipt: Json | undefined;
  /** Whether the transaction is in both roots. */
  isInside: boolean;
}

interface Problem {
  reason: string;
  /** Whether the block contradicts itself; false if something is unknown or missing. */
  isWrong: boolean;
}

/**
 * Checks both roots of a block whose header is proven; returns nothing if the block is proven, too.
 *
 * @param block with full transactions
 * @param receipts in transaction order, with logs numbered from 0
 */
export function checkRoots(block: Json, receipts: readonly Json[], network: Network): Finding[] {
  const findings: Finding[] = [];
  const run = (code: Finding['code'], check: () => Problem | undefined): void => {
    const problem = attempt(check);
    if (problem === undefined) return;
    const { isWrong, reason } = problem;
    findings.push({ code, result: isWrong ? 'failed' : 'not-applicable', reason });
  };
  const entries = (): Entry[] => toEntries(block, receipts, network);
  run('transactions-root', () => checkTransactions(block, entries(), network));
  run('receipts-root', () => checkReceipts(block, entries(), receipts, network));
  return findings;
}

const wrong = (reason: string): Problem => ({ reason, isWrong: true });
const unknown = (reason: string): Problem => ({ reason, isWrong: false });

/** Runs a check; a part with an unexpected form is a problem. */
function attempt(check: () => Problem | undefined): Problem | undefined {
  try {
    return check();
  } catch (error) {
    if (error instanceof SourceError) return wrong(error.message);
    throw error;
  }
}

const transactionsOf = (block: Json): Json[] =>
  toList(block['transactions'], 'transactions').map((item) => toObject(item, 'transaction'));

function toEntries(block: Json, receipts: readonly Json[], network: Network): Entry[] {
  const byHash = new Map(receipts.map((receipt) => [receipt['transactionHash'], receipt]));
  return transactionsOf(block).map((transaction) => ({
    transaction,
    receipt: byHash.get(transaction['hash']),
    isInside: !network.isOutsideRoots(transaction, block),
  }));
}

const ZERO_ROOT = `0x${'00'.repeat(32)}`;
const hasRoot = (root: unknown): boolean =>
  typeof root === 'string' && root !== EMPTY_ROOT && root !== ZERO_ROOT && root !== '0x';

function checkTransactions(
  block: Json,
  entries: readonly Entry[],
  network: Network,
): Problem | undefined {
  const inside = entries.filter(({ isInside }) => isInside);
  const root = block['transactionsRoot'];
  const encoded: Buffer[] = [];
  for (const { transaction, isInside } of entries) {
    if (!isInside) continue;
    const bytes = encodeTransaction(transaction);
    if (bytes === undefined) return toUnknownType(transaction, network);
    if (keccak256(bytes) !== transaction['hash']) {
      return wrong('a transaction hash is not the hash of the transaction');
    }
    if (!hasEffectivePrice(block, transaction)) {
      return derived('a gas price does not follow from the fees of the block', network);
    }
    encoded.push(bytes);
  }
  if (inside.length > 0 && !hasRoot(root)) {
    return derived('the transactions root is that of a block without transactions', network);
  }
  if (createListTrie(encoded).root !== root) {
    return wrong('the transactions do not match the transactions root');
  }
  return checkOutside(entries);
}

/** A transaction that no root covers may have been added or altered by the node. */
const checkOutside = (entries: readonly Entry[]): Problem | undefined =>
  entries.every(({ isInside }) => isInside)
    ? undefined
    : unknown('a transaction of the network is in neither root');

function toUnknownType(transaction: Json, network: Network): Problem {
  const type = typeOf(transaction);
  const reason = `this version does not know the encoding of a transaction of type ${type}`;
  return network.isStandard && isStandardType(type) ? wrong(reason) : unknown(reason);
}

/** A value that follows from others by Ethereum's rules; other networks may have other rules. */
const derived = (reason: string, network: Network): Problem => ({
  reason,
  isWrong: network.isStandard,
});

/** Transaction types whose effective gas price must follow Ethereum's rules. */
const FEE_MARKET_TYPES = new Set(['0x2', '0x3', '0x4']);

function hasEffectivePrice(block: Json, transaction: Json): boolean {
  const { gasPrice } = transaction;
  if (!FEE_MARKET_TYPES.has(typeOf(transaction))) return true;
  const most = toBigInt(transaction, 'maxFeePerGas');
  const wanted = toBigInt(block, 'baseFeePerGas') + toBigInt(transaction, 'maxPriorityFeePerGas');
  return isQuantity(gasPrice, wanted < most ? wanted : most);
}

function checkReceipts(
  block: Json,
  entries: readonly Entry[],
  receipts: readonly Json[],
  network: Network,
): Problem | undefined {
  const root = block['receiptsRoot'];
  if (block['settledHeight'] != null) {
    return unknown('the receipts root covers the blocks that this block settles');
  }
  const inside = entries.filter(({ isInside }) => isInside);
  if (inside.length > 0 && !hasRoot(root)) {
    return derived('the receipts root is that of a block without receipts', network);
  }
  if (inside.some(({ receipt }) => receipt === undefined)) {
    return derived('a transaction has no receipt', network);
  }
  const own = ownReceipts(block, receipts);
  const count = entries.filter(({ receipt }) => receipt !== undefined).length + own.length;
  if (receipts.length !== count) return wrong('a receipt belongs to no transaction of the block');
  const encoded = encodeReceipts(inside, own);
  if (encoded.includes(undefined)) {
    return derived('this version does not know the encoding of a receipt', network);
  }
  if (createListTrie(encoded as Buffer[]).root !== root) {
    return wrong('the receipts do not match the receipts root');
  }
  return checkPlaces(entries, network) ?? checkOutside(entries);
}

/** Returns the receipt with which Celo's blocks may end, for the logs of the block itself. */
const ownReceipts = (block: Json, receipts: readonly Json[]): Json[] =>
  receipts.filter((each) => each['transactionHash'] === block['hash']);

function encodeReceipts(inside: readonly Entry[], own: readonly Json[]): (Buffer | undefined)[] {
  const known: KnownBits = new Map();
  return [
    ...inside.map(({ transaction, receipt }) =>
      encodeReceipt(withBaseFee(receipt!, transaction), typeOf(transaction), known),
    ),
    ...own.map((receipt) => encodeReceipt(receipt, LEGACY_TYPE, known)),
  ];
}

/** Checks the fields of receipts that follow from other fields of the block. */
function checkPlaces(entries: readonly Entry[], network: Network): Problem | undefined {
  let gasBefore = 0n;
  for (const { transaction, receipt, isInside } of entries) {
    if (receipt === undefined || !isInside) continue;
    const gas = toBigInt(receipt, 'cumulativeGasUsed');
    if (!isQuantity(receipt['gasUsed'], gas - gasBefore)) {
      return derived('the gas of a receipt does not follow from the receipts before it', network);
    }
    gasBefore = gas;
    if (!hasItsContract(transaction, receipt)) {
      return derived('a contract address does not follow from its creator', network);
    }
    if (network.isStandard && !hasItsFee(transaction, receipt)) {
      return wrong('the fee of a receipt does not follow from its transaction');
    }
  }
  return undefined;
}

/**
 * Returns whether the receipt's contract address is correct. A creation has the address that
 * follows from the creator and its nonce, or none if it failed; any other transaction has none.
 * Nonstandard types always pass.
 */
function hasItsContract(transaction: Json, receipt: Json): boolean {
  const { contractAddress } = receipt;
  if (!isStandardType(typeOf(transaction))) return true;
  if (transaction['to'] != null) return contractAddress == null;
  if (contractAddress == null) return receipt['status'] === '0x0';
  const creator = encodeRlp([bytesOf(transaction, 'from'), quantityOf(transaction, 'nonce')]);
  return (
    keccak256(creator).slice(-40) === readHex(receipt, 'contractAddress').slice(2).toLowerCase()
  );
}

/** Returns whether the receipt, if it has a price, has the price of its transaction and no L1 fee. */
const hasItsFee = (transaction: Json, { effectiveGasPrice, l1Fee }: Json): boolean =>
  (effectiveGasPrice == null || isQuantity(effectiveGasPrice, toBigInt(transaction, 'gasPrice'))) &&
  (l1Fee == null || isQuantity(l1Fee, 0n));

const toBigInt = (from: Json, key: string): bigint => BigInt(readQuantity(from, key));

const isQuantity = (value: unknown, expected: bigint): boolean =>
  typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) && BigInt(value) === expected;

/**
 * Creates the proofs of a block for which {@link checkRoots} found nothing.
 *
 * @param header the bytes whose hash is the block hash
 */
export function createProofs(
  block: Json,
  receipts: readonly Json[],
  header: Buffer,
  network: Network,
): BlockProofs {
  const entries = toEntries(block, receipts, network);
  const trie = createListTrie(encodeReceipts(entries, ownReceipts(block, receipts)) as Buffer[]);
  return {
    header: toHex(header),
    prove: (transactionIndex) => trie.prove(transactionIndex).map(toHex),
  };
}

const toHex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;
