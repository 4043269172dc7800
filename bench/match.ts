/**
 * Measures matching blocks of Ethereum's size against a thousand streams with a thousand to ten
 * million addresses in total, including building the bodies. For comparison, it measures a map of
 * strings to sets (up to a million addresses), and iterating over the block without lookups. It also
 * measures streams of functions and factories, whose children are the addresses, and what one such
 * stream costs the others. With ten million addresses, it measures the share of one core that
 * following four chains takes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { eventTopic, parseEvent } from '@sluice/kit/contract';
import { bloomOf } from '../packages/service/src/families/evm/ingest/bloom.ts';
import { createEvmSource } from '../packages/service/src/families/evm/ingest/evm.ts';
import type {
  EvmBlock,
  EvmLog,
  EvmTransaction,
} from '../packages/service/src/families/evm/match/block.ts';
import {
  matchBlock,
  type CompiledStream,
  createStreamIndex,
} from '../packages/service/src/families/evm/match/match.ts';
import { findChildren } from '../packages/service/src/families/evm/match/children.ts';
import type { Rules } from '../packages/service/src/families/evm/match/rules.ts';
import { withChildren } from '../packages/service/src/match/children.ts';
import { type RuleIndex, loadChildren } from '../packages/service/src/match/ruleIndex.ts';
import { toWebhookParts } from '../packages/service/src/families/evm/match/webhook.ts';
import { createLog } from '../packages/service/src/base/log.ts';
import { splitBody } from '../packages/service/src/store/blocks/body.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
} from '../packages/service/src/store/streams/contract.ts';
import { addressBytes } from './addressBytes.ts';
import type { Figures } from './figures.ts';

const CHAIN = '0x2105';
const STREAMS = 1_000;
const SIZES = { '1k': 1e3, '10k': 1e4, '1M': 1e6, '10M': 1e7 };
/** Maximum number of addresses in the map of strings to sets; a larger map takes gigabytes. */
const MAP_LIMIT = 1e6;
const BLOCKS = 100;
const ROUNDS = 20;
const WATCHED_SHARE = 0.03;
const MAINNET = { transactions: 200, logs: 500 };

/** Assumed averages of each chain: seconds per block, and transactions and logs of a block. */
const CHAINS = {
  ethereum: { seconds: 12, ...MAINNET },
  base: { seconds: 2, transactions: 300, logs: 1_200 },
  bsc: { seconds: 0.75, transactions: 120, logs: 350 },
  arbitrum: { seconds: 0.25, transactions: 8, logs: 30 },
};

/** @param parts numbers of addresses. Default: {@link SIZES} */
export default async function match(parts: readonly string[]): Promise<Figures> {
  const figures: Figures = {};
  const sizes = parts.length === 0 ? SIZES : Object.fromEntries(parts.map((n) => [n, Number(n)]));
  for (const [name, size] of Object.entries(sizes)) {
    const index = createIndex(size);
    const blocks = Array.from({ length: BLOCKS }, (_, n) => createBlock(MAINNET, n, size));
    const { alone: ours, beside } = await measureBeside(index, blocks);
    const what = `${STREAMS} streams, ${size.toLocaleString('en')} addresses`;
    figures[`match_${name}`] = {
      value: 1000 / ours.mean,
      unit: 'blk/s',
      note: `${what}: ${ours.matches.toFixed(1)} streams and ${ours.records.toFixed(1)} records of ${MAINNET.logs} logs and ${MAINNET.transactions} transactions match`,
    };
    figures[`match_${name}_p50`] = ms(ours.p50, 'a block, with webhook bodies');
    figures[`match_${name}_p99`] = ms(ours.p99, 'the same');
    const others = 'the same, beside a stream with a function and a factory, in turns';
    figures[`beside_${name}_p50`] = ms(beside.p50, others);
    figures[`beside_${name}_p99`] = ms(beside.p99, 'the same');
    figures[`match_${name}_bytes`] = {
      value: index.addresses.sizeBytes / index.addresses.size,
      unit: 'B',
      note: 'an (address, stream) entry in memory',
    };
    selectFunctions(index);
    const calling = measure(index, blocks);
    const calls = `${calling.calls.toFixed(1)} calls match, too: half of the transactions call transfer, which each stream selects`;
    figures[`calls_${name}_p50`] = ms(calling.p50, calls);
    figures[`calls_${name}_p99`] = ms(calling.p99, 'the same');
    for (let n = 0; n < STREAMS; n++) index.put(recordOf(n));
    const walk = measure(
      withLookups(index, () => {}),
      blocks,
    );
    figures[`walk_${name}_p50`] = ms(walk.p50, 'raw: iterating over the block without lookups');
    if (size <= MAP_LIMIT) {
      const map = createMapIndex(index, size);
      const theirs = measure(map.index, blocks);
      figures[`map_${name}_p50`] = ms(theirs.p50, 'raw: lookups in a map of strings to sets');
      figures[`map_${name}_p99`] = ms(theirs.p99, 'the same');
      figures[`map_${name}_bytes`] = { value: map.bytes, unit: 'B', note: 'an entry of that map' };
    }
    if (size === SIZES['10M']) Object.assign(figures, await followChains(index, size));
    const creating = measure(await createChildIndex(size), blocks.map(withChild));
    figures[`children_${name}_p50`] = ms(
      creating.p50,
      'the addresses are children of a factory per stream, one more is created in each block, and calls match, too',
    );
    figures[`children_${name}_p99`] = ms(creating.p99, 'the same');
  }
  return figures;
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const ms = (value: number, note: string) => ({ value, unit: 'ms', note });

const recordOf = (n: number): EvmStreamRecord => ({
  id: `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
  family: 'evm',
  tag: 'bench',
  description: '',
  webhookUrl: 'http://127.0.0.1/',
  chainIds: [CHAIN, '0x1'],
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 0,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
  // A third of the streams match one event, a third only transactions, and a third everything.
  options: {
    ...DEFAULT_OPTIONS,
    includeContractLogs: n % 3 !== 1,
    includeNativeTxs: n % 3 !== 0,
    topic0: n % 3 === 0 ? ['Transfer(address,address,uint256)'] : null,
  },
  ...DEFAULT_DELIVERY,
});

const addressText = (n: number): string => `0x${Buffer.from(addressBytes(n)).toString('hex')}`;

function createIndex(size: number) {
  const index = createStreamIndex();
  const each = size / STREAMS;
  for (let stream = 0; stream < STREAMS; stream++) {
    const record = recordOf(stream);
    index.put(record);
    const packed = new Uint8Array(each * 20);
    for (let n = 0; n < each; n++) packed.set(addressBytes(stream * each + n), n * 20);
    index.addAddresses(record.id, packed);
  }
  return index;
}

const FUNCTIONS = ['transfer(address to, uint256 amount)'];

const withOptions = (
  record: EvmStreamRecord,
  options: Partial<EvmStreamRecord['options']>,
): EvmStreamRecord => ({ ...record, options: { ...record.options, ...options } });

/** Makes each stream select a function, without changing its addresses. */
function selectFunctions(index: Index): void {
  for (let n = 0; n < STREAMS; n++) {
    index.put(withOptions(recordOf(n), { functions: FUNCTIONS }));
  }
}

const CREATED = 'Created(address indexed child)';
const factoryOf = (stream: number): string => addressText(0x7000_0000 + stream);

/** Returns the stream with a function and a factory. */
const creatorOf = (n: number): EvmStreamRecord =>
  withOptions(recordOf(n), {
    functions: FUNCTIONS,
    factories: [{ address: factoryOf(n), event: CREATED, parameter: 'child' }],
  });

/** Returns an index of the same streams, with the addresses as children of their factories. */
async function createChildIndex(size: number): Promise<Index> {
  const index = createStreamIndex();
  for (let n = 0; n < STREAMS; n++) index.put(creatorOf(n));
  await load(index, size / STREAMS);
  return index;
}

/** Loads the missing children of an index: `each` per factory. */
const load = (index: Index, each: number): Promise<void> =>
  loadChildren(
    index,
    {
      readChildren: ({ streamId }) => {
        const first = Number.parseInt(streamId.slice(-12), 16) * each;
        const bytes = new Uint8Array(each * 20);
        for (let n = 0; n < each; n++) bytes.set(addressBytes(first + n), n * 20);
        return Promise.resolve({ addresses: { width: 20, bytes }, next: undefined });
      },
    },
    CHAIN,
  );

/** Returns the block with a log of a factory instead of the first log. */
const withChild = (block: EvmBlock): EvmBlock => ({
  ...block,
  logs: block.logs.with(0, {
    ...block.logs[0]!,
    address: factoryOf(block.number % STREAMS),
    topics: [
      eventTopic(parseEvent(CREATED)!),
      `0x${'0'.repeat(24)}${addressText(STRANGERS + block.number).slice(2)}`,
    ],
    data: '0x',
  }),
});

type Index = RuleIndex<'evm', Rules>;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Returns an index of the same streams that looks up addresses in another way. */
const withLookups = (index: Index, watching: Index['watching']): Index => ({
  ...index,
  watching,
  following: { ...index.following, watching },
});

/**
 * Returns an index of the same streams that looks up addresses in a map, and the bytes of the map
 * per address.
 */
function createMapIndex(index: Index, size: number): { index: Index; bytes: number } {
  const streams: CompiledStream[] = [];
  for (let n = 0; n < STREAMS; n++) {
    index.watching(CHAIN, addressText((n * size) / STREAMS), 2, (stream) => (streams[n] = stream));
  }
  collect();
  const before = process.memoryUsage().heapUsed;
  const map = new Map<string, Set<CompiledStream>>();
  for (let n = 0; n < size; n++) {
    map.set(addressText(n), new Set([streams[Math.floor((n * STREAMS) / size)]!]));
  }
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / size;
  return {
    bytes,
    index: withLookups(index, (_, text, at, visit) => {
      for (const stream of map.get(`0x${text.slice(at)}`) ?? []) visit(stream);
    }),
  };
}

/** Creates a generator of pseudo-random numbers. A seed gives the same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const SWAP = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67';
/** Selector of `transfer(address,uint256)`. */
const SELECTOR = '0xa9059cbb';
const STRANGERS = 0x4000_0000;

/**
 * Creates a block in which most logs are ERC-20 transfers. Only a small share of the parties are
 * watched addresses.
 */
function createBlock(
  { transactions, logs }: { transactions: number; logs: number },
  number: number,
  watched: number,
): EvmBlock {
  const random = createRandom(number);
  const upTo = (limit: number): number => Math.floor(random() * limit);
  const word = (value: number): string => value.toString(16).padStart(64, '0');
  const hash = (kind: number, n: number): string => `0x${word(number * 1e7 + kind * 1e6 + n)}`;
  const anyone = (): string =>
    addressText(random() < WATCHED_SHARE ? upTo(watched) : STRANGERS + upTo(STRANGERS));
  const token = (): string => addressText(STRANGERS + upTo(300));
  const topic = (): string => `0x${'0'.repeat(24)}${anyone().slice(2)}`;

  const toLog = (logIndex: number): EvmLog => {
    const transactionIndex = Math.floor((logIndex * transactions) / logs);
    const kind = random();
    const isSwap = kind > 0.85;
    return {
      logIndex,
      transactionIndex,
      transactionHash: hash(1, transactionIndex),
      address: token(),
      topics: [kind < 0.7 ? TRANSFER : isSwap ? SWAP : APPROVAL, topic(), topic()],
      data: `0x${Array.from({ length: isSwap ? 5 : 1 }, () => word(upTo(2 ** 48))).join('')}`,
    };
  };
  const toTransaction = (transactionIndex: number): EvmTransaction => ({
    hash: hash(1, transactionIndex),
    transactionIndex,
    from: anyone(),
    to: random() < 0.6 ? token() : anyone(),
    value: `0x${upTo(2 ** 48).toString(16)}`,
    gas: '0x5208',
    gasPrice: '0x3b9aca00',
    nonce: `0x${upTo(1000).toString(16)}`,
    input: `${transactionIndex % 2 === 0 ? '0x' : SELECTOR}${word(upTo(2 ** 48)).repeat(upTo(8))}`,
    type: '0x2',
    v: '0x1',
    r: `0x${word(upTo(2 ** 48)).replaceAll('0', 'a')}`,
    s: `0x${word(upTo(2 ** 48)).replaceAll('0', 'b')}`,
    receipt: {
      cumulativeGasUsed: '0x5208',
      gasUsed: '0x5208',
      contractAddress: null,
      root: null,
      status: '0x1',
      fee: { price: '0x3b9aca00', l1Fee: '0x0' },
    },
  });
  return {
    number,
    hash: hash(2, number),
    parentHash: hash(2, number - 1),
    timestamp: 1_700_000_000 + number,
    logs: Array.from({ length: logs }, (_, n) => toLog(n)),
    transactions: Array.from({ length: transactions }, (_, n) => toTransaction(n)),
    internalTransactions: [],
  };
}

/**
 * Matches a block with the children that it adds, and builds the body of each match as the service does. Returns the number of
 * matches and of matching records.
 */
function matchAll(
  index: Index,
  block: EvmBlock,
): { matches: number; records: number; calls: number } {
  const children = findChildren(index, CHAIN, block, ({ stream, factory, address }) => {
    let isKnown = false;
    index.visitChildren(CHAIN, address, 2, (its, by) => {
      isKnown ||= its === stream && by === factory;
    });
    return isKnown;
  });
  const matches = matchBlock(withChildren(index.following, children), CHAIN, block);
  let records = 0;
  let calls = 0;
  for (const each of matches) {
    const { head, tail } = toWebhookParts(CHAIN, block, each);
    splitBody(head, tail);
    records += each.logs.length + each.transactions.length;
    calls += each.calls.length;
  }
  return { matches: matches.length, records, calls };
}

function createMeasurement(index: Index) {
  const durations: number[] = [];
  let matches = 0;
  let records = 0;
  let calls = 0;
  return {
    /** Matches the blocks once. The durations of rounds below 0, which are for warm-up, are ignored. */
    measure(blocks: readonly EvmBlock[], round: number): void {
      for (const block of blocks) {
        // A clone is new to all caches, like a block that was just parsed.
        const fresh = structuredClone(block);
        const started = performance.now();
        const found = matchAll(index, fresh);
        const duration = performance.now() - started;
        if (round < 0) continue;
        durations.push(duration);
        matches += found.matches;
        records += found.records;
        calls += found.calls;
      }
    },
    result() {
      const sorted = durations.toSorted((a, b) => a - b);
      const percentile = (share: number): number => sorted[Math.floor(sorted.length * share)]!;
      return {
        p50: percentile(0.5),
        p99: percentile(0.99),
        mean: durations.reduce((sum, each) => sum + each, 0) / durations.length,
        matches: matches / durations.length,
        records: records / durations.length,
        calls: calls / durations.length,
      };
    },
  };
}

const WARM_UP_ROUNDS = 2;

function measure(index: Index, blocks: readonly EvmBlock[]) {
  const measurement = createMeasurement(index);
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) measurement.measure(blocks, round);
  return measurement.result();
}

/**
 * Measures streams alone and beside one with a function and a factory, which watches one address. Each
 * round measures both, in alternating order.
 */
async function measureBeside(index: Index, blocks: readonly EvmBlock[]) {
  const other = creatorOf(STREAMS);
  const both = { alone: createMeasurement(index), beside: createMeasurement(index) };
  const run = async (name: keyof typeof both, round: number): Promise<void> => {
    if (name === 'beside') {
      index.put(other);
      index.addAddresses(other.id, addressBytes(STRANGERS));
      await load(index, 0);
    }
    // The first block fills the caches of a changed index.
    both[name].measure(blocks.slice(0, 1), -1);
    both[name].measure(blocks, round);
    index.delete(other.id);
    while (index.sweep());
  };
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const names = ['alone', 'beside'] as const;
    for (const name of round % 2 === 0 ? names : names.toReversed()) await run(name, round);
  }
  return { alone: both.alone.result(), beside: both.beside.result() };
}

/** A node in its own thread that returns prepared JSON for each method and block. */
const NODE = `
  const { createServer } = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const answerOf = ({ id, method, params }) =>
    '{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' +
    (workerData[method + ' ' + params[0]] ?? workerData[method] ?? 'null') + '}';
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(chunks).toString());
      response.setHeader('content-type', 'application/json');
      response.end(Array.isArray(call) ? '[' + call.map(answerOf).join() + ']' : answerOf(call));
    });
  });
  server.keepAliveTimeout = 60000;
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

async function followChains(index: Index, watched: number): Promise<Figures> {
  const figures: Figures = {};
  let total = 0;
  for (const [name, { seconds, ...shape }] of Object.entries(CHAINS)) {
    const busyMs = await followOne(index, shape, watched);
    const share = busyMs / (seconds * 1000);
    total += share;
    figures[`core_${name}`] = {
      value: 100 * share,
      unit: '%',
      note: `of one core: ${busyMs.toFixed(1)} ms per block, read over HTTP, parsed, checked and matched; assumed ${shape.transactions} transactions and ${shape.logs} logs every ${seconds} s`,
    };
  }
  figures['core_four_chains'] = {
    value: 100 * total,
    unit: '%',
    note: 'of one core, to follow all four at once (without committing and delivering)',
  };
  return figures;
}

async function followOne(
  index: Index,
  shape: { transactions: number; logs: number },
  watched: number,
): Promise<number> {
  const blocks = Array.from({ length: BLOCKS }, (_, n) => createBlock(shape, n + 1, watched));
  const answers: Record<string, string> = { eth_chainId: JSON.stringify(CHAIN) };
  for (const block of blocks) {
    const { block: answer, receipts } = toRpc(block);
    answers[`eth_getBlockByHash ${block.hash}`] = JSON.stringify(answer);
    answers[`eth_getBlockReceipts ${block.hash}`] = JSON.stringify(receipts);
  }
  answers['eth_getBlockByNumber'] = answers[`eth_getBlockByHash ${blocks[0]!.hash}`]!;
  const node = new Worker(NODE, { eval: true, workerData: answers });
  const port = await new Promise<number>((resolve) => node.once('message', resolve));
  const source = createEvmSource({
    chain: CHAIN,
    urls: [`http://127.0.0.1:${port}`],
    pollMs: 60_000,
    log: createLog((line) => process.stderr.write(line)),
  });
  try {
    const needs = { logs: true, transactions: true, traces: false };
    const follow = async (): Promise<void> => {
      for (const block of blocks) matchAll(index, await source.readBlock(block, needs));
    };
    await follow();
    const before = cpuMs();
    await follow();
    await follow();
    return (cpuMs() - before) / (2 * blocks.length);
  } finally {
    await source.stop();
    await node.terminate();
  }
}

/**
 * Returns the block and its receipts as nodes do, including the fields that the service does not
 * read.
 */
function toRpc(block: EvmBlock) {
  const at = { blockHash: block.hash, blockNumber: `0x${block.number.toString(16)}` };
  const quantity = (n: number): string => `0x${n.toString(16)}`;
  const transactions = block.transactions.map((transaction) => ({
    ...at,
    ...transaction,
    receipt: undefined,
    transactionIndex: quantity(transaction.transactionIndex),
    accessList: [],
    chainId: CHAIN,
    maxFeePerGas: '0x3b9aca00',
    maxPriorityFeePerGas: '0x1',
    yParity: '0x1',
  }));
  const logs = block.logs.map((log) => ({
    ...at,
    ...log,
    logIndex: quantity(log.logIndex),
    transactionIndex: quantity(log.transactionIndex),
    blockTimestamp: quantity(block.timestamp),
    removed: false,
  }));
  const toBloom = (of: readonly EvmLog[]): string =>
    `0x${Buffer.from(bloomOf(of)).toString('hex')}`;
  return {
    block: {
      number: at.blockNumber,
      hash: block.hash,
      parentHash: block.parentHash,
      timestamp: quantity(block.timestamp),
      logsBloom: toBloom(block.logs),
      gasUsed: '0x1c9c380',
      gasLimit: '0x1c9c380',
      transactions,
    },
    receipts: block.transactions.map((transaction, n) => ({
      ...at,
      ...transaction.receipt,
      transactionHash: transaction.hash,
      transactionIndex: quantity(transaction.transactionIndex),
      from: transaction.from,
      to: transaction.to,
      type: transaction.type,
      effectiveGasPrice: transaction.gasPrice,
      logs: logs.filter((log) => log.transactionHash === transaction.hash),
      logsBloom: toBloom(block.logs.filter((log) => log.transactionIndex === n)),
    })),
  };
}
