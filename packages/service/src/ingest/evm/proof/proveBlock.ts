/**
 * Proves the contents of a block: rebuilds the transactions root and the receipts root from a
 * node's response and compares them with the header. Fields that the roots do not cover are
 * computed and compared.
 */
import { keccak256 } from '@sluice/kit/contract';
import type { BlockProofs } from '../../../match/evm/block.ts';
import { type Json, hex, list, object } from '../../json.ts';
import type { KnownBits } from '../bloom.ts';
import type { HeaderProof } from '../headerLayout.ts';
import type { Network } from '../networks.ts';
import type { Finding } from '../normalize.ts';
import { encodeReceipt } from './receipts.ts';
import { bytesOf, quantityOf } from './fields.ts';
import { encodeRlp } from './rlp.ts';
import { encodeTransaction, typeOf } from './transactions.ts';
import { EMPTY_ROOT, type ListTrie, createListTrie } from './trie.ts';

/** Interim. Empty if the block is proven. */
export function checkRoots(
  block: Json,
  receipts: readonly Json[],
  header: HeaderProof,
  _network: Network,
): Finding[] {
  if (header.result !== 'passed') return [];
  const transactions = transactionsOf(block);
  const all: Finding[] = [];
  for (const [code, reasons] of [
    ['transactions-root', findUnprovenTransactions(block, transactions)],
    ['receipts-root', findUnprovenReceipts(block, transactions, receipts)],
  ] as const) {
    for (const reason of reasons) {
      const result = reason.startsWith('this version') ? 'not-applicable' : 'failed';
      all.push({ code, result, reason });
    }
  }
  return all;
}

/** Creates the proofs of a block for which {@link checkRoots} found nothing. */
export function createProofs(
  block: Json,
  receipts: readonly Json[],
  encodedHeader: Buffer,
): BlockProofs {
  const trie = toReceiptTrie(transactionsOf(block), receipts);
  return {
    header: toHex(encodedHeader),
    prove: (transactionIndex) => trie.prove(transactionIndex).map(toHex),
  };
}

const toHex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;

const transactionsOf = (block: Json): Json[] =>
  list(block['transactions'], 'transactions').map((item) => object(item, 'transaction'));

function toReceiptTrie(transactions: readonly Json[], receipts: readonly Json[]): ListTrie {
  const known: KnownBits = new Map();
  return createListTrie(
    receipts.map((receipt, n) => encodeReceipt(receipt, typeOf(transactions[n]!), known)),
  );
}

function findUnprovenTransactions(block: Json, transactions: readonly Json[]): string[] {
  const encoded: Buffer[] = [];
  for (const transaction of transactions) {
    const bytes = encodeTransaction(transaction);
    if (bytes === undefined) {
      return [
        `this version does not know the encoding of a transaction of type ${typeOf(transaction)}`,
      ];
    }
    if (keccak256(bytes) !== transaction['hash']) {
      return ['a transaction hash is not the hash of the transaction'];
    }
    if (!hasEffectivePrice(block, transaction)) {
      return ['a gas price does not follow from the fees of the block'];
    }
    encoded.push(bytes);
  }
  return createListTrie(encoded).root === block['transactionsRoot']
    ? []
    : ['the transactions do not match the transactions root'];
}

/**
 * Transaction types whose effective gas price must follow Ethereum's rules, and types whose
 * contract address must follow them. Types of other chains may follow different rules.
 */
const FEE_MARKET_TYPES = new Set(['0x2', '0x3', '0x4']);
const STANDARD_TYPES = new Set(['0x0', '0x1', ...FEE_MARKET_TYPES]);

function hasEffectivePrice(block: Json, transaction: Json): boolean {
  const { gasPrice } = transaction;
  if (!FEE_MARKET_TYPES.has(typeOf(transaction))) return true;
  const most = BigInt(hex(transaction, 'maxFeePerGas'));
  const wanted =
    BigInt(hex(block, 'baseFeePerGas')) + BigInt(hex(transaction, 'maxPriorityFeePerGas'));
  return isQuantity(gasPrice, wanted < most ? wanted : most);
}

function findUnprovenReceipts(
  block: Json,
  transactions: readonly Json[],
  receipts: readonly Json[],
): string[] {
  if (receipts.length > 0 && block['receiptsRoot'] === EMPTY_ROOT) {
    return ['the receipts root is that of a block without receipts'];
  }
  if (receipts.length !== transactions.length) return ['a transaction has no receipt'];
  if (toReceiptTrie(transactions, receipts).root !== block['receiptsRoot']) {
    return ['the receipts do not match the receipts root'];
  }
  let gasBefore = 0n;
  for (const [n, receipt] of receipts.entries()) {
    const transaction = transactions[n]!;
    const gas = BigInt(hex(receipt, 'cumulativeGasUsed'));
    if (!isQuantity(receipt['gasUsed'], gas - gasBefore)) {
      return ['the gas of a receipt does not follow from the receipts before it'];
    }
    if (!hasItsContract(transaction, receipt)) {
      return ['a contract address does not follow from its creator'];
    }
    gasBefore = gas;
  }
  return [];
}

/**
 * Returns whether the receipt's contract address is correct. A creation has the address that
 * follows from the creator and its nonce, or none if it failed; any other transaction has none.
 * Nonstandard types always pass.
 */
function hasItsContract(transaction: Json, receipt: Json): boolean {
  const { contractAddress } = receipt;
  if (!STANDARD_TYPES.has(typeOf(transaction))) return true;
  if (transaction['to'] != null) return contractAddress == null;
  if (contractAddress == null) return receipt['status'] === '0x0';
  const creator = encodeRlp([bytesOf(transaction, 'from'), quantityOf(transaction, 'nonce')]);
  return keccak256(creator).slice(-40) === hex(receipt, 'contractAddress').slice(2).toLowerCase();
}

const isQuantity = (value: unknown, expected: bigint): boolean =>
  typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) && BigInt(value) === expected;
