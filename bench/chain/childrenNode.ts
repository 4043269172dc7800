/** A node, in its own thread, of a chain whose factory creates a contract every few blocks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface ChildrenChain {
  chain: string;
  factory: string;
  topic0: string;
  blocks: number;
  /** The factory creates contracts in each block whose number is a multiple of this. */
  every: number;
  /** Number of contracts in such a block. */
  perBlock: number;
  /** Maximum number of blocks in a query for logs. */
  blocksPerQuery: number;
  /** Maximum number of logs in a response. */
  logsPerQuery: number;
}

const { chain, factory, topic0, blocks, every, perBlock, blocksPerQuery, logsPerQuery } =
  workerData as ChildrenChain;

interface Call {
  id: number;
  method: string;
  params: [never];
}

const word = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
const quantity = (n: number): string => `0x${n.toString(16)}`;

const headerOf = (number: number) => ({
  number: quantity(number),
  hash: word(number + 1),
  parentHash: word(number),
  timestamp: quantity(1_700_000_000 + number),
  logsBloom: `0x${'ff'.repeat(256)}`,
  gasUsed: '0x0',
  gasLimit: '0x0',
  transactions: [],
});

const logOf = (number: number, n: number) => ({
  address: factory,
  topics: [topic0, word(number * perBlock + n)],
  data: '0x',
  blockNumber: quantity(number),
  blockHash: word(number + 1),
  transactionHash: word(10_000_000 + number),
  transactionIndex: '0x0',
  logIndex: quantity(n),
  removed: false,
});

let requests = 0;

function answer({ method, params: [given] }: Call): object {
  requests++;
  switch (method) {
    case 'eth_chainId':
      return { result: chain };
    case 'eth_blockNumber':
      return { result: quantity(blocks) };
    case 'eth_getBlockByNumber':
      return { result: headerOf(given === 'latest' ? blocks : Number(given)) };
    case 'eth_getBlockByHash':
      return { result: headerOf(Number(BigInt(given)) - 1) };
    case 'eth_getLogs': {
      const { fromBlock, toBlock } = given as { fromBlock: string; toBlock: string };
      const [from, to] = [Number(fromBlock), Number(toBlock)];
      if (to - from >= blocksPerQuery) {
        const message = `exceed maximum block range: ${blocksPerQuery}`;
        return { error: { code: -32000, message } };
      }
      const first = Math.ceil(from / every);
      const length = (Math.floor(to / every) - first + 1) * perBlock;
      if (length > logsPerQuery) {
        const message = `query returned more than ${logsPerQuery} results`;
        return { error: { code: -32005, message } };
      }
      const logs = Array.from({ length }, (_, n) =>
        logOf((first + Math.floor(n / perBlock)) * every, n % perBlock),
      );
      return { result: logs };
    }
    default:
      return { error: { code: -32601, message: 'unknown method' } };
  }
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const call = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const answers = [call].flat().map((each) => ({ jsonrpc: '2.0', id: each.id, ...answer(each) }));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(call) ? answers : answers[0]));
  });
});
server.listen(0, '127.0.0.1', () => {
  parentPort!.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
parentPort!.on('message', () => {
  parentPort!.postMessage(requests);
  requests = 0;
});
