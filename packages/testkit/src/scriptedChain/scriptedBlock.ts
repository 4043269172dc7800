import type { Address, Hex } from 'viem';
import { bloomOf } from './bloom.ts';
import { fromHex, keccak, keccakOfText, toHex } from './keccak.ts';
import { encodeRlp, rlpNumber } from './rlp.ts';
import { type SignedFields, encodeReceipt, encodeTransaction, rootOf } from './tries.ts';
import type { ScriptedInternalCall, ScriptedTransaction } from './scriptedTransaction.ts';

/** A mined block, for comparison in tests. Addresses are lowercase, except in `calls`. */
export interface ScriptedBlock {
  readonly number: bigint;
  /** Keccak of the RLP of the header, as on Ethereum. */
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Seconds since 1970: the whole seconds of `timestampMs`. */
  readonly timestamp: bigint;
  readonly timestampMs: bigint;
  /** Whether the node also returns the time in milliseconds. */
  readonly showsMs: boolean;
  readonly logsBloom: Hex;
  readonly gasUsed: bigint;
  /** Unique for every block, so that two branches never share a block by accident. */
  readonly mixHash: Hex;
  readonly stateRoot: Hex;
  readonly transactionsRoot: Hex;
  readonly receiptsRoot: Hex;
  readonly transactions: readonly MinedTransaction[];
}

export interface MinedTransaction {
  readonly hash: Hex;
  readonly transactionIndex: number;
  readonly from: Address;
  readonly to: Address | null;
  readonly nonce: bigint;
  readonly value: bigint;
  readonly input: Hex;
  readonly type: 'legacy' | 'eip1559';
  readonly status: 'success' | 'reverted';
  readonly gasUsed: bigint;
  readonly cumulativeGasUsed: bigint;
  /** Address of the created contract if the transaction has no `to`, otherwise null. */
  readonly contractAddress: Address | null;
  readonly logsBloom: Hex;
  readonly logs: readonly MinedLog[];
  readonly calls: readonly ScriptedInternalCall[];
  readonly signed: SignedFields;
}

export interface MinedLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  /** Index within the block. */
  readonly logIndex: number;
}

/**
 * A scripted transaction with the fields that the chain adds, which are the same on every branch.
 */
export interface IdentifiedTransaction {
  script: ScriptedTransaction;
  from: Address;
  nonce: bigint;
  hash: Hex;
  signed: SignedFields;
}

export interface BlockIngredients {
  number: bigint;
  parentHash: Hex;
  timestampMs: bigint;
  showsMs: boolean;
  /** Text that determines `mixHash`; unique among the blocks of the chain. */
  salt: string;
  transactions: readonly IdentifiedTransaction[];
}

/** Header fields that are the same in all blocks. */
export const fixedHeader = {
  /** Keccak of the RLP of an empty list. */
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: '0x0000000000000000000000000000000000000000',
  difficulty: 0n,
  gasLimit: 2n ** 40n,
  extraData: toHex(Buffer.from('scripted')),
  nonce: '0x0000000000000000',
  baseFeePerGas: 1_000_000_000n,
  /** The root of an empty trie. */
  withdrawalsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  blobGasUsed: 0n,
  excessBlobGas: 0n,
  parentBeaconBlockRoot: `0x${'0'.repeat(64)}`,
} as const;

const priorityFee = 1_000_000_000n;
const gasPrice = fixedHeader.baseFeePerGas + priorityFee;

/**
 * Returns the fields that a transaction's hash covers, with a placeholder for the signature.
 *
 * @param identity text that is unique for the transaction
 */
export function sign(
  script: ScriptedTransaction,
  { chainId, nonce, identity }: { chainId: number; nonce: bigint; identity: string },
): SignedFields {
  const { to = null, value = 0n, input = '0x', type = 'eip1559' } = script;
  return {
    type,
    chainId,
    nonce,
    value,
    input,
    gasPrice,
    priorityFee,
    to: to && toLowerCaseHex(to),
    maxFee: gasPrice * 2n,
    gas: gasUsedBy(script) * 2n,
    v: type === 'legacy' ? BigInt(chainId * 2 + 35) : 0n,
    // Placeholders with the size of a signature. They do not match the sender.
    r: BigInt(keccakOfText(`r:${identity}`)),
    s: BigInt(keccakOfText(`s:${identity}`)),
  };
}

const gasUsedBy = ({ gasUsed, logs = [] }: ScriptedTransaction): bigint =>
  gasUsed ?? 21_000n + 10_000n * BigInt(logs.length);

/**
 * Creates a consistent block: its hash, blooms, log indices, cumulative gas, and roots of
 * transactions and receipts match the content. The state root is made up.
 *
 * @throws Error for a reverted transaction with logs, or for a log with more than four topics.
 */
export function makeBlock(ingredients: BlockIngredients): ScriptedBlock {
  const transactions = mineTransactions(ingredients.transactions);
  const bloom = bloomOf(transactions.flatMap(({ logs }) => logs));
  const mixHash = keccakOfText(ingredients.salt);
  const header = {
    number: ingredients.number,
    parentHash: ingredients.parentHash,
    timestamp: ingredients.timestampMs / 1_000n,
    timestampMs: ingredients.timestampMs,
    showsMs: ingredients.showsMs,
    logsBloom: toHex(bloom),
    gasUsed: transactions.at(-1)?.cumulativeGasUsed ?? 0n,
    mixHash,
    stateRoot: keccakOfText(`state:${mixHash}`),
    transactionsRoot: rootOf(transactions.map(({ signed }) => encodeTransaction(signed))),
    receiptsRoot: rootOf(transactions.map(encodeReceipt)),
  };
  return { ...header, hash: hashOf(header), transactions };
}

function mineTransactions(identified: readonly IdentifiedTransaction[]): MinedTransaction[] {
  let cumulativeGasUsed = 0n;
  let logIndex = 0;
  return identified.map(({ script, from, nonce, hash, signed }, transactionIndex) => {
    const { status = 'success' } = script;
    const { to, value, input, type } = signed;
    const scriptedLogs = script.logs ?? [];
    if (status === 'reverted' && scriptedLogs.length > 0) {
      throw new Error('A reverted transaction has no logs');
    }
    const gasUsed = gasUsedBy(script);
    cumulativeGasUsed += gasUsed;
    const logs = scriptedLogs.map(({ address, topics, data = '0x' }): MinedLog => {
      if (topics.length > 4) throw new Error(`A log has at most 4 topics, not ${topics.length}`);
      return {
        address: toLowerCaseHex(address),
        topics: topics.map(toLowerCaseHex),
        data,
        logIndex: logIndex++,
      };
    });
    return {
      hash,
      transactionIndex,
      from,
      to,
      nonce,
      value,
      input,
      type,
      status,
      gasUsed,
      cumulativeGasUsed,
      contractAddress: to ? null : contractAddressOf(from, nonce),
      logsBloom: toHex(bloomOf(logs)),
      logs,
      calls: script.calls ?? [],
      signed,
    };
  });
}

/** Returns the address of a created contract: the last 20 bytes of keccak(rlp([from, nonce])). */
function contractAddressOf(from: Address, nonce: bigint): Address {
  return toHex(keccak(encodeRlp([fromHex(from), rlpNumber(nonce)])).subarray(12));
}

/** Hashes the header's fields in Ethereum's order, as of the Cancun fork. */
function hashOf(header: Omit<ScriptedBlock, 'hash' | 'transactions'>): Hex {
  const fields = [
    fromHex(header.parentHash),
    fromHex(fixedHeader.sha3Uncles),
    fromHex(fixedHeader.miner),
    fromHex(header.stateRoot),
    fromHex(header.transactionsRoot),
    fromHex(header.receiptsRoot),
    fromHex(header.logsBloom),
    rlpNumber(fixedHeader.difficulty),
    rlpNumber(header.number),
    rlpNumber(fixedHeader.gasLimit),
    rlpNumber(header.gasUsed),
    rlpNumber(header.timestamp),
    fromHex(fixedHeader.extraData),
    fromHex(header.mixHash),
    fromHex(fixedHeader.nonce),
    rlpNumber(fixedHeader.baseFeePerGas),
    fromHex(fixedHeader.withdrawalsRoot),
    rlpNumber(fixedHeader.blobGasUsed),
    rlpNumber(fixedHeader.excessBlobGas),
    fromHex(fixedHeader.parentBeaconBlockRoot),
  ];
  return toHex(keccak(encodeRlp(fields)));
}

export function toLowerCaseHex<Value extends Hex>(hex: Value): Value {
  return hex.toLowerCase() as Value;
}
