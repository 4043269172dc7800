import type { Hex } from 'viem';
import {
  type MinedLog,
  type MinedTransaction,
  type ScriptedBlock,
  fixedHeader,
} from '../scriptedBlock.ts';

/*
 * Blocks, transactions, receipts and logs as geth returns them: quantities without leading zeros,
 * lowercase hex, null for missing values.
 */

export interface RpcLog {
  address: Hex;
  topics: readonly Hex[];
  data: Hex;
  blockNumber: Hex;
  transactionHash: Hex;
  transactionIndex: Hex;
  blockHash: Hex;
  blockTimestamp: Hex;
  logIndex: Hex;
  removed: boolean;
}

export interface RpcReceipt {
  blockHash: Hex;
  blockNumber: Hex;
  contractAddress: Hex | null;
  cumulativeGasUsed: Hex;
  effectiveGasPrice: Hex;
  from: Hex;
  gasUsed: Hex;
  logs: RpcLog[];
  logsBloom: Hex;
  status: Hex;
  to: Hex | null;
  transactionHash: Hex;
  transactionIndex: Hex;
  type: Hex;
}

export type RpcBlock = ReturnType<typeof toRpcBlock>;

export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

const blockTimestampMs = ({ showsMs, timestampMs }: ScriptedBlock) =>
  showsMs && { blockTimestampMs: toQuantity(timestampMs) };

/** Returns the block's header in the form in which `newHeads` announces it. */
export function toRpcHeader(block: ScriptedBlock) {
  return {
    parentHash: block.parentHash,
    sha3Uncles: fixedHeader.sha3Uncles,
    miner: fixedHeader.miner,
    stateRoot: block.stateRoot,
    transactionsRoot: block.transactionsRoot,
    receiptsRoot: block.receiptsRoot,
    logsBloom: block.logsBloom,
    difficulty: toQuantity(fixedHeader.difficulty),
    number: toQuantity(block.number),
    gasLimit: toQuantity(fixedHeader.gasLimit),
    gasUsed: toQuantity(block.gasUsed),
    timestamp: toQuantity(block.timestamp),
    extraData: fixedHeader.extraData,
    mixHash: block.mixHash,
    nonce: fixedHeader.nonce,
    baseFeePerGas: toQuantity(fixedHeader.baseFeePerGas),
    withdrawalsRoot: fixedHeader.withdrawalsRoot,
    blobGasUsed: toQuantity(fixedHeader.blobGasUsed),
    excessBlobGas: toQuantity(fixedHeader.excessBlobGas),
    parentBeaconBlockRoot: fixedHeader.parentBeaconBlockRoot,
    hash: block.hash,
    ...(block.showsMs && { timestampMs: toQuantity(block.timestampMs) }),
  };
}

export function toRpcBlock(block: ScriptedBlock, chainId: number, withTransactions: boolean) {
  return {
    ...toRpcHeader(block),
    // An estimate; clients do not check the size of a block's RLP.
    size: toQuantity(608 + block.transactions.length * 120),
    uncles: [] as Hex[],
    transactions: block.transactions.map((transaction) =>
      withTransactions ? toRpcTransaction(transaction, block, chainId) : transaction.hash,
    ),
    withdrawals: [] as unknown[],
  };
}

export function toRpcTransaction(
  transaction: MinedTransaction,
  block: ScriptedBlock,
  chainId: number,
) {
  const { signed } = transaction;
  const common = {
    blockHash: block.hash,
    blockNumber: toQuantity(block.number),
    from: transaction.from,
    gas: toQuantity(signed.gas),
    gasPrice: toQuantity(signed.gasPrice),
    hash: transaction.hash,
    input: transaction.input,
    nonce: toQuantity(transaction.nonce),
    to: transaction.to,
    transactionIndex: toQuantity(transaction.transactionIndex),
    value: toQuantity(transaction.value),
    chainId: toQuantity(chainId),
    v: toQuantity(signed.v),
    r: toQuantity(signed.r),
    s: toQuantity(signed.s),
    ...blockTimestampMs(block),
  };
  if (transaction.type === 'legacy') return { ...common, type: '0x0' };
  return {
    ...common,
    type: '0x2',
    maxFeePerGas: toQuantity(signed.maxFee),
    maxPriorityFeePerGas: toQuantity(signed.priorityFee),
    accessList: [],
    yParity: toQuantity(signed.v),
  };
}

export function toRpcReceipt(transaction: MinedTransaction, block: ScriptedBlock): RpcReceipt {
  return {
    blockHash: block.hash,
    blockNumber: toQuantity(block.number),
    contractAddress: transaction.contractAddress,
    cumulativeGasUsed: toQuantity(transaction.cumulativeGasUsed),
    effectiveGasPrice: toQuantity(transaction.signed.gasPrice),
    from: transaction.from,
    gasUsed: toQuantity(transaction.gasUsed),
    logs: transaction.logs.map((log) => toRpcLog(log, transaction, block)),
    logsBloom: transaction.logsBloom,
    status: transaction.status === 'success' ? '0x1' : '0x0',
    to: transaction.to,
    transactionHash: transaction.hash,
    transactionIndex: toQuantity(transaction.transactionIndex),
    type: transaction.type === 'legacy' ? '0x0' : '0x2',
    ...blockTimestampMs(block),
  };
}

export function toRpcLog(
  log: MinedLog,
  transaction: MinedTransaction,
  block: ScriptedBlock,
): RpcLog {
  return {
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockNumber: toQuantity(block.number),
    transactionHash: transaction.hash,
    transactionIndex: toQuantity(transaction.transactionIndex),
    blockHash: block.hash,
    blockTimestamp: toQuantity(block.timestamp),
    logIndex: toQuantity(log.logIndex),
    removed: false,
    ...blockTimestampMs(block),
  };
}
