import type { Hex } from 'viem';
import { keccakOfText } from '../keccak.ts';
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

export function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** The header, as `newHeads` sends it. */
export function toRpcHeader(block: ScriptedBlock) {
  return {
    parentHash: block.parentHash,
    sha3Uncles: fixedHeader.sha3Uncles,
    miner: fixedHeader.miner,
    stateRoot: block.stateRoot,
    transactionsRoot: block.transactionsRoot,
    receiptsRoot: block.receiptsRoot,
    logsBloom: block.logsBloom,
    difficulty: quantity(fixedHeader.difficulty),
    number: quantity(block.number),
    gasLimit: quantity(fixedHeader.gasLimit),
    gasUsed: quantity(block.gasUsed),
    timestamp: quantity(block.timestamp),
    extraData: fixedHeader.extraData,
    mixHash: block.mixHash,
    nonce: fixedHeader.nonce,
    baseFeePerGas: quantity(fixedHeader.baseFeePerGas),
    withdrawalsRoot: fixedHeader.withdrawalsRoot,
    blobGasUsed: quantity(fixedHeader.blobGasUsed),
    excessBlobGas: quantity(fixedHeader.excessBlobGas),
    parentBeaconBlockRoot: fixedHeader.parentBeaconBlockRoot,
    hash: block.hash,
  };
}

export function toRpcBlock(block: ScriptedBlock, chainId: number, withTransactions: boolean) {
  return {
    ...toRpcHeader(block),
    // An estimate; clients do not check the size of a block's RLP.
    size: quantity(608 + block.transactions.length * 120),
    uncles: [] as Hex[],
    transactions: block.transactions.map((transaction) =>
      withTransactions ? toRpcTransaction(transaction, block, chainId) : transaction.hash,
    ),
    withdrawals: [] as unknown[],
  };
}

const priorityFee = 1_000_000_000n;
const gasPrice = fixedHeader.baseFeePerGas + priorityFee;

export function toRpcTransaction(
  transaction: MinedTransaction,
  block: ScriptedBlock,
  chainId: number,
) {
  const common = {
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    from: transaction.from,
    gas: quantity(transaction.gasUsed * 2n),
    gasPrice: quantity(gasPrice),
    hash: transaction.hash,
    input: transaction.input,
    nonce: quantity(transaction.nonce),
    to: transaction.to,
    transactionIndex: quantity(transaction.transactionIndex),
    value: quantity(transaction.value),
    chainId: quantity(chainId),
    // Has the form and size of a signature, but is not valid for any key.
    r: withoutLeadingZeros(keccakOfText(`r:${transaction.hash}`)),
    s: withoutLeadingZeros(keccakOfText(`s:${transaction.hash}`)),
  };
  if (transaction.type === 'legacy') {
    return { ...common, type: '0x0', v: quantity(chainId * 2 + 35) };
  }
  return {
    ...common,
    type: '0x2',
    maxFeePerGas: quantity(gasPrice * 2n),
    maxPriorityFeePerGas: quantity(priorityFee),
    accessList: [],
    v: '0x0',
    yParity: '0x0',
  };
}

export function toRpcReceipt(transaction: MinedTransaction, block: ScriptedBlock): RpcReceipt {
  return {
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    contractAddress: transaction.contractAddress,
    cumulativeGasUsed: quantity(transaction.cumulativeGasUsed),
    effectiveGasPrice: quantity(gasPrice),
    from: transaction.from,
    gasUsed: quantity(transaction.gasUsed),
    logs: transaction.logs.map((log) => toRpcLog(log, transaction, block)),
    logsBloom: transaction.logsBloom,
    status: transaction.status === 'success' ? '0x1' : '0x0',
    to: transaction.to,
    transactionHash: transaction.hash,
    transactionIndex: quantity(transaction.transactionIndex),
    type: transaction.type === 'legacy' ? '0x0' : '0x2',
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
    blockNumber: quantity(block.number),
    transactionHash: transaction.hash,
    transactionIndex: quantity(transaction.transactionIndex),
    blockHash: block.hash,
    blockTimestamp: quantity(block.timestamp),
    logIndex: quantity(log.logIndex),
    removed: false,
  };
}

function withoutLeadingZeros(hex: Hex): Hex {
  return `0x${hex.slice(2).replace(/^0+(?=.)/, '')}`;
}
