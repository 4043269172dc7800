import type { Address, Hex } from 'viem';
import { RpcError } from './rpcError.ts';
import {
  type RpcBlock,
  type RpcLog,
  type RpcReceipt,
  toQuantity,
  toRpcBlock,
  toRpcLog,
  toRpcReceipt,
  toRpcTransaction,
} from './rpcShapes.ts';
import { toRpcTraces } from './rpcTraces.ts';
import { type ScriptedBlock, toLowerCaseHex } from '../scriptedBlock.ts';
import type { ScriptedChain } from '../scriptedChain.ts';

/** An `eth_call`, to which a function of the test responds. */
export interface ScriptedCall {
  to: Address;
  data: Hex;
  /** The block at which the call reads state. */
  block: ScriptedBlock;
}

/** Functions of a test that respond to reads of state, because a scripted chain has no state. */
export interface StateAnswers {
  /** Returns the call's output; throws an Error to make the call revert. */
  call: (call: ScriptedCall) => Hex;
  /** Returns the balance in wei. */
  balance: (account: { address: Address; block: ScriptedBlock }) => bigint;
}

/** The chain as one node knows it. A lagging node does not know the newest blocks. */
export interface ChainView {
  chain: ScriptedChain;
  /** Number of blocks by which the node lags behind the chain. */
  lag: number;
  answers: StateAnswers;
}

type Params = readonly unknown[];

/**
 * Distances of the finalized and the safe block from the head, in blocks: two epochs and one epoch.
 */
const finalizedDepth = 64n;
const safeDepth = 32n;

/**
 * Returns the result of one call, like geth.
 *
 * @throws RpcError for an unknown method, invalid parameters, an unknown block or a reverted call.
 */
export function answerCall(method: string, params: Params, view: ChainView): unknown {
  const answer = methods[method];
  if (!answer) {
    throw new RpcError(-32601, `the method ${method} does not exist/is not available`);
  }
  return answer(view, params);
}

const methods: Record<string, (view: ChainView, params: Params) => unknown> = {
  web3_clientVersion: () => 'scripted/1.0.0',
  net_version: ({ chain }) => String(chain.chainId),
  eth_chainId: ({ chain }) => toQuantity(chain.chainId),
  eth_syncing: () => false,
  eth_gasPrice: () => toQuantity(2_000_000_000n),
  eth_blockNumber: (view) => toQuantity(headNumber(view)),
  eth_getBlockByNumber: (view, [tag, full]) =>
    blockOrNull(view, blockByTag(view, tag), full === true),
  eth_getBlockByHash: (view, [hash, full]) =>
    blockOrNull(view, blockByHash(view, hash), full === true),
  eth_getBlockReceipts: (view, [which]) => {
    const block = isHash(which) ? blockByHash(view, which) : blockByTag(view, which);
    return block ? block.transactions.map((transaction) => toRpcReceipt(transaction, block)) : null;
  },
  eth_getTransactionReceipt: (view, [hash]): RpcReceipt | null => {
    const found = transactionOf(view, hash);
    return found ? toRpcReceipt(found.transaction, found.block) : null;
  },
  eth_getTransactionByHash: (view, [hash]) => {
    const found = transactionOf(view, hash);
    return found ? toRpcTransaction(found.transaction, found.block, view.chain.chainId) : null;
  },
  eth_getLogs: (view, [filter]) => readLogs(view, filter as LogFilter),
  eth_call: (view, [call, tag]) => {
    const { to, data, input } = call as { to: Address; data?: Hex; input?: Hex };
    const block = stateBlock(view, tag);
    try {
      return view.answers.call({ to: toLowerCaseHex(to), data: input ?? data ?? '0x', block });
    } catch (error) {
      throw new RpcError(3, `execution reverted: ${(error as Error).message}`, '0x');
    }
  },
  eth_getCode: (view, [address, tag]) =>
    hasEmitted(view, toLowerCaseHex(address as Address), stateBlock(view, tag)) ? '0x00' : '0x',
  eth_getStorageAt: (view, [, , tag]) => {
    stateBlock(view, tag);
    return `0x${'0'.repeat(64)}`;
  },
  debug_traceBlockByHash: (view, [hash, options]) =>
    tracesOf(blockByHash(view, hash), hash, options),
  debug_traceBlockByNumber: (view, [tag, options]) => tracesOf(blockByTag(view, tag), tag, options),
  eth_getBalance: (view, [address, tag]) =>
    toQuantity(
      view.answers.balance({
        address: toLowerCaseHex(address as Address),
        block: stateBlock(view, tag),
      }),
    ),
};

function tracesOf(block: ScriptedBlock | undefined, asked: unknown, options: unknown) {
  if ((options as { tracer?: string } | undefined)?.tracer !== 'callTracer') {
    throw new RpcError(-32602, 'a scripted chain has no tracer but callTracer');
  }
  if (!block) throw new RpcError(-32000, `block ${String(asked)} not found`);
  return toRpcTraces(block);
}

function headNumber({ chain, lag }: ChainView): bigint {
  const number = chain.head.number - BigInt(lag);
  return number < 0n ? 0n : number;
}

function blockOrNull(
  { chain }: ChainView,
  block: ScriptedBlock | undefined,
  full: boolean,
): RpcBlock | null {
  return block ? toRpcBlock(block, chain.chainId, full) : null;
}

function isHash(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value);
}

function blockByHash(view: ChainView, hash: unknown): ScriptedBlock | undefined {
  if (!isHash(hash))
    throw new RpcError(-32602, 'invalid argument 0: hex string of 32 bytes wanted');
  const block = view.chain.blockOf(toLowerCaseHex(hash));
  return block && block.number <= headNumber(view) ? block : undefined;
}

function blockByTag(view: ChainView, tag: unknown): ScriptedBlock | undefined {
  const number = numberOf(view, tag);
  return number <= headNumber(view) ? view.chain.blockAt(number) : undefined;
}

function numberOf(view: ChainView, tag: unknown): bigint {
  const head = headNumber(view);
  const behind = (depth: bigint) => (head > depth ? head - depth : 0n);
  switch (tag) {
    case 'latest':
    case 'pending':
      return head;
    case 'earliest':
      return 0n;
    case 'safe':
      return behind(safeDepth);
    case 'finalized':
      return behind(finalizedDepth);
    default:
      if (typeof tag === 'string' && /^0x(0|[1-9a-f][0-9a-f]*)$/i.test(tag)) return BigInt(tag);
      throw new RpcError(
        -32602,
        `invalid argument 0: ${JSON.stringify(tag)} is not a block number`,
      );
  }
}

/**
 * Returns the block whose state a call reads. `tag` is a number, a tag such as `latest`, or an
 * object of EIP-1898 with `blockHash` or `blockNumber`.
 */
function stateBlock(view: ChainView, tag: unknown = 'latest'): ScriptedBlock {
  const byHash = (tag as { blockHash?: unknown } | null)?.blockHash;
  const byNumber = (tag as { blockNumber?: unknown } | null)?.blockNumber;
  const block = byHash ? blockByHash(view, byHash) : blockByTag(view, byNumber ?? tag);
  if (!block) throw new RpcError(-32000, 'header not found');
  return block;
}

/**
 * Returns whether the address has emitted a log up to this block. A scripted chain has no code, so
 * an address that has emitted a log counts as a contract.
 */
function hasEmitted({ chain }: ChainView, address: Hex, { number }: ScriptedBlock): boolean {
  for (
    let block = chain.blockAt(number);
    block !== undefined;
    block = chain.blockAt(block.number - 1n)
  ) {
    if (block.transactions.some(({ logs }) => logs.some((log) => log.address === address)))
      return true;
  }
  return false;
}

function transactionOf(view: ChainView, hash: unknown) {
  if (!isHash(hash))
    throw new RpcError(-32602, 'invalid argument 0: hex string of 32 bytes wanted');
  const block = view.chain.blockWith(toLowerCaseHex(hash));
  if (!block || block.number > headNumber(view)) return undefined;
  const transaction = block.transactions.find(
    (candidate) => candidate.hash === toLowerCaseHex(hash),
  );
  return transaction && { block, transaction };
}

/** The argument of `eth_getLogs`: one block by hash, or a range of the canonical branch. */
interface LogFilter {
  blockHash?: Hex;
  /** Default: `latest`. */
  fromBlock?: string;
  /** Default: `latest`. */
  toBlock?: string;
  address?: Address | readonly Address[];
  /** For each position: a topic, a list of alternatives, or null for any topic. */
  topics?: readonly (Hex | readonly Hex[] | null)[];
}

/**
 * Returns the number of the first block and the number of blocks that a filter covers; undefined
 * for a filter by block hash.
 */
export function rangeOf(
  filter: unknown,
  view: ChainView,
): { from: number; blocks: number } | undefined {
  const { blockHash, fromBlock = 'latest', toBlock = 'latest' } = filter as LogFilter;
  if (blockHash) return undefined;
  const from = Number(numberOf(view, fromBlock));
  return { from, blocks: Number(numberOf(view, toBlock)) - from + 1 };
}

function readLogs(view: ChainView, filter: LogFilter): RpcLog[] {
  const { blockHash, fromBlock = 'latest', toBlock = 'latest' } = filter;
  if (blockHash) {
    if (filter.fromBlock || filter.toBlock) {
      throw new RpcError(-32602, 'cannot specify both BlockHash and FromBlock/ToBlock');
    }
    const block = blockByHash(view, blockHash);
    if (!block) throw new RpcError(-32000, 'unknown block');
    return logsOf(block, filter);
  }
  const [from, to] = [numberOf(view, fromBlock), numberOf(view, toBlock)];
  if (from > to) throw new RpcError(-32000, 'invalid block range params');
  const last = to < headNumber(view) ? to : headNumber(view);
  const logs: RpcLog[] = [];
  for (let number = from; number <= last; number += 1n) {
    // Adds logs one by one, because passing the 50,000 logs of a huge block as arguments would
    // overflow the stack.
    const block = view.chain.blockAt(number);
    if (block !== undefined) for (const log of logsOf(block, filter)) logs.push(log);
  }
  return logs;
}

function logsOf(block: ScriptedBlock, { address = [], topics = [] }: LogFilter): RpcLog[] {
  const addresses = [address].flat().map(toLowerCaseHex);
  const wanted = topics.map((topic) => (topic === null ? [] : [topic].flat().map(toLowerCaseHex)));
  return block.transactions.flatMap((transaction) =>
    transaction.logs
      .filter(
        (log) =>
          (addresses.length === 0 || addresses.includes(log.address)) &&
          wanted.length <= log.topics.length &&
          wanted.every((any, at) => any.length === 0 || any.includes(log.topics[at] as Hex)),
      )
      .map((log) => toRpcLog(log, transaction, block)),
  );
}
