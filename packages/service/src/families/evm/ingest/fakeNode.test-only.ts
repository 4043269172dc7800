/**
 * A node of a chain that breaks Ethereum's rules. It serves a few given blocks, and a test changes
 * what single methods return.
 */
import type { BlockNeeds } from '../../../store/blocks/contract.ts';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLog } from '../../../base/log.ts';
import type { EvmBlock } from '../match/block.ts';
import type { Json } from '../../../ingest/json.ts';
import { type EvmSourceOptions, createEvmSource } from './evm.ts';

export const ALL: BlockNeeds = { logs: true, transactions: true, traces: false };
export const LOGS: BlockNeeds = { ...ALL, transactions: false };

export const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
export const word = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
export const toHex = (n: number): string => `0x${n.toString(16)}`;
const ZERO_BLOOM = `0x${'00'.repeat(256)}`;
export const FULL_BLOOM = `0x${'ff'.repeat(256)}`;

const hashOfBlock = (number: number): string => word(0xb10c_0000 + number);

/** Returns a block whose hash is not the hash of its header. */
export const createBlock = (number: number, changes: Json = {}): Json => ({
  number: toHex(number),
  hash: hashOfBlock(number),
  parentHash: hashOfBlock(number - 1),
  timestamp: toHex(1_000 + number),
  logsBloom: ZERO_BLOOM,
  transactions: [],
  ...changes,
});

export const createTransaction = (n: number, changes: Json = {}): Json => ({
  hash: word(0x7000 + n),
  transactionIndex: toHex(n),
  from: address(1),
  to: address(2),
  value: '0x5',
  gas: '0x5208',
  gasPrice: '0x1',
  nonce: '0x0',
  input: '0x',
  type: '0x0',
  ...changes,
});

/** Returns the `n`th log of a block, in the transaction with this index. */
export const createBlockLog = (
  block: Json,
  transactionIndex: number,
  logIndex: number,
  changes: Json = {},
): Json => ({
  address: address(0xaa),
  topics: [word(0xfe), word(logIndex)],
  data: '0x',
  blockNumber: block['number'],
  blockHash: block['hash'],
  transactionHash: word(0x7000 + transactionIndex),
  transactionIndex: toHex(transactionIndex),
  logIndex: toHex(logIndex),
  removed: false,
  ...changes,
});

export const createReceipt = (
  block: Json,
  n: number,
  logs: Json[] = [],
  changes: Json = {},
): Json => ({
  transactionHash: word(0x7000 + n),
  transactionIndex: toHex(n),
  blockHash: block['hash'],
  blockNumber: block['number'],
  cumulativeGasUsed: toHex(21_000 * (n + 1)),
  gasUsed: toHex(21_000),
  status: '0x1',
  logsBloom: ZERO_BLOOM,
  logs,
  ...changes,
});

type Method = (...params: never[]) => unknown;

export interface FakeNode {
  url: string;
  /** Number of calls by method. */
  calls: Record<string, number>;
  stop(): Promise<void>;
}

/** Makes a method fail with a JSON-RPC error. */
export const fail =
  (code: number, message: string, data?: unknown): Method =>
  () => {
    throw Object.assign(new Error(message), { code, data });
  };

interface Content {
  block: Json;
  receipts?: Json[];
  /** The result of `eth_getLogs` for the block. Default: the logs of the receipts. */
  logs?: Json[];
}

/** @param methods replace the default methods */
export async function startFakeNode(
  contents: readonly Content[],
  methods: Record<string, Method> = {},
): Promise<FakeNode> {
  const byHash = (hash: string): Content | undefined =>
    contents.find(({ block }) => block['hash'] === hash);
  const byNumber = (at: string): Content | undefined =>
    at === 'latest' ? contents.at(-1) : contents.find(({ block }) => block['number'] === at);
  const show = (found: Content | undefined, isFull: boolean): Json | null => {
    if (found === undefined) return null;
    const transactions = found.block['transactions'] as Json[];
    return {
      ...found.block,
      transactions: isFull ? transactions : transactions.map(({ hash }) => hash),
    };
  };
  const all: Record<string, Method> = {
    eth_chainId: () => '0x7a69',
    eth_getBlockByHash: (hash: string, isFull: boolean) => show(byHash(hash), isFull),
    eth_getBlockByNumber: (at: string, isFull: boolean) => show(byNumber(at), isFull),
    eth_getBlockReceipts: (at: string) => (byHash(at) ?? byNumber(at))?.receipts ?? [],
    eth_getTransactionReceipt: (hash: string) =>
      contents
        .flatMap(({ receipts = [] }) => receipts)
        .find((each) => each['transactionHash'] === hash) ?? null,
    eth_getLogs: ({ blockHash, fromBlock }: { blockHash?: string; fromBlock?: string }) => {
      const found = blockHash === undefined ? byNumber(fromBlock!) : byHash(blockHash);
      return found?.logs ?? (found?.receipts ?? []).flatMap(({ logs }) => logs as Json[]);
    },
    ...methods,
  };
  const calls: Record<string, number> = {};
  const answer = ({
    id,
    method,
    params,
  }: {
    id: number;
    method: string;
    params: never[];
  }): Json => {
    calls[method] = (calls[method] ?? 0) + 1;
    try {
      const call = all[method] ?? fail(-32601, `the method ${method} does not exist`);
      return { jsonrpc: '2.0', id, result: call(...params) };
    } catch (error) {
      const { code, message, data } = error as { code: number; message: string; data: unknown };
      return { jsonrpc: '2.0', id, error: { code, message, data } };
    }
  };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      const body = JSON.parse(text) as
        | Parameters<typeof answer>[0]
        | Parameters<typeof answer>[0][];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Array.isArray(body) ? body.map(answer) : answer(body)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Reads blocks from nodes one after another, as the service does. */
export async function readAllFrom(
  nodes: readonly FakeNode[],
  numbers: readonly number[],
  needs: BlockNeeds,
  options: Partial<EvmSourceOptions> = {},
): Promise<EvmBlock[]> {
  const source = createEvmSource({
    chain: '0x7a69',
    urls: nodes.map(({ url }) => url),
    pollMs: 10_000,
    log: createLog(() => {}),
    ...options,
  });
  try {
    const blocks: EvmBlock[] = [];
    for (const number of numbers) blocks.push((await source.readBlockAt(number, needs))!.block);
    return blocks;
  } finally {
    await source.stop();
  }
}

/** Reads a block like {@link readAllFrom}. */
export const readFrom = async (
  nodes: readonly FakeNode[],
  number: number,
  needs: BlockNeeds,
  options?: Partial<EvmSourceOptions>,
): Promise<EvmBlock> => (await readAllFrom(nodes, [number], needs, options))[0]!;
