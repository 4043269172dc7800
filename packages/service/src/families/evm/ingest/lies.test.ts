/** Tests that a response is rejected if it falsifies a block but keeps its hash. */
import { createScriptedChain, scripted, startScriptedChain } from '@sluice/testkit';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { createLog } from '../../../base/log.ts';
import type { Json } from '../../../ingest/json.ts';
import { SourceError } from '../../../ingest/source.ts';
import { createAcceptance } from './acceptance.ts';
import { createAnswers } from './answers.ts';
import { createEvmSource } from './evm.ts';
import { toHeader } from './header.ts';
import { createHeaderProver } from './headerLayout.ts';
import { createHeaderRules } from './headerRules.ts';
import { createLearnedFacts } from './learned.ts';
import { networkOf } from './networks.ts';
import type { Provider } from './provider.ts';
import { createWays } from './ways.ts';

const address = (n: number): `0x${string}` => `0x${n.toString(16).padStart(40, '0')}`;
const topic = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, '0')}`;

/**
 * Reads scripted blocks with transactions of several kinds; some have no logs, some have several.
 */
async function readBlocks(): Promise<{ block: Json; receipts: Json[] }[]> {
  const chain = createScriptedChain({ chainId: 1 });
  let n = 0;
  const transactionOf = (logs: number) => ({
    from: address(++n % 5),
    to: n % 7 === 0 ? null : address(100 + n),
    value: BigInt(n),
    input: `0x${'ab'.repeat(n % 70)}` as const,
    type: n % 3 === 0 ? ('legacy' as const) : ('eip1559' as const),
    logs: Array.from({ length: logs }, (_, at) => ({
      address: address(200 + (at % 3)),
      topics: [topic(n), topic(at)].slice(0, 1 + (at % 2)),
      data: `0x${'cd'.repeat((n * at) % 90)}` as const,
    })),
  });
  chain.mine({ transactions: [transactionOf(1)] });
  chain.mine({ transactions: [0, 2, 3, 1].map(transactionOf) });
  chain.mine({ transactions: Array.from({ length: 150 }, (_, at) => transactionOf(at % 4)) });
  chain.mine({
    transactions: [scripted.reverted(transactionOf(0)), transactionOf(4), transactionOf(0)],
  });
  const node = await startScriptedChain({ chain });
  const read = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(node.url, { method: 'POST', body });
    return ((await response.json()) as { result: unknown }).result;
  };
  const blocks = [];
  for (const { hash } of chain.canonical().slice(1)) {
    const block = (await read('eth_getBlockByHash', hash, true)) as Json;
    const receipts = (await read('eth_getBlockReceipts', hash)) as Json[];
    blocks.push({ block, receipts });
  }
  await node.stop();
  return blocks;
}

const FULL = { logs: true, transactions: true, traces: false };

/** Creates a node that returns these receipts for the block. */
const nodeOf = (name: string, receipts: readonly Json[]): Provider =>
  ({
    name,
    request: (method: string, [hash]: readonly unknown[]) =>
      Promise.resolve(
        method === 'eth_getBlockReceipts'
          ? receipts
          : (receipts.find((each) => each['transactionHash'] === hash) ?? null),
      ),
    fault() {},
    readHeaderAt: (number: number) =>
      Promise.resolve(blocks.find((each) => each.header.number === number)?.header),
  }) as unknown as Provider;

/** The blocks of one node. */
interface Said {
  block: Json;
  receipts: Json[];
}

/**
 * Reads the responses of one or more nodes of different operators as the source does. Returns the
 * parts as JSON; throws if no response is accepted at once.
 */
async function accept(
  chain: string,
  header: BlockHeader,
  said: readonly Said[],
): Promise<{ parts: string; isMarked: boolean }> {
  const network = networkOf(chain);
  const learned = createLearnedFacts();
  // The first headers of a chain show whether its headers match their hashes.
  learned.confirm('headers-prove');
  const headers = createHeaderRules({
    trust: 'evidence',
    network,
    learned,
    prover: createHeaderProver(),
  });
  const answers = createAnswers({ network, learned, ways: createWays<Provider>() });
  const nodes = said.map(({ receipts }, n) => nodeOf(`node ${n}`, receipts));
  const acceptBlock = createAcceptance({
    chain,
    network,
    trust: 'evidence',
    settleMs: 120_000,
    log: createLog(() => {}),
    settling: { remainingMs: (_block, _content, waitMs) => waitMs },
    nodes: {
      operatorOf: ({ name }) => name,
      witnesses: (of) => nodes.filter((each) => each !== of),
    },
  });
  const { unverified, ...parts } = await acceptBlock(
    header,
    async (read) => {
      let failure: unknown;
      for (const each of nodes) {
        try {
          const found = await read(each);
          if (found !== undefined) return found;
        } catch (error) {
          failure ??= error;
        }
      }
      if (failure !== undefined) throw failure;
      return undefined;
    },
    async (from) => {
      const { block } = said[nodes.indexOf(from)]!;
      const seen = toHeader(block);
      const isAlone = nodes.length === 1;
      const proof = await headers.check(block, seen, { node: from.name, isAlone });
      if (JSON.stringify(seen) !== JSON.stringify(header)) {
        throw new SourceError('inconsistent', 'another header than requested');
      }
      return answers.read(from, { body: block, header, proof }, FULL);
    },
  );
  return { parts: JSON.stringify(parts), isMarked: unverified !== undefined };
}

/** Number of lies per situation; more are tried by hand. */
const RUNS = Number(process.env['LIE_RUNS'] ?? 1_000);

/** Indexes of the blocks. The large one is tried less often, because it takes most of the time. */
const SMALL_BLOCKS = [0, 1, 3];
const LARGE_BLOCK = 2;

const STANDARD = '0x1';
const OTHER = '0x7a69';

let blocks: { block: Json; receipts: Json[]; header: BlockHeader; honest: string }[];
beforeAll(async () => {
  const read = await readBlocks();
  blocks = await Promise.all(
    read.map(async (each) => {
      const header = toHeader(each.block);
      const { parts } = await accept(STANDARD, header, [each]);
      return { ...each, header, honest: parts };
    }),
  );
});

const at = <T>(items: readonly T[], pick: number): T => items[pick % items.length]!;
const logsOf = (receipt: Json): Json[] => receipt['logs'] as Json[];
/** Gives logs the index and transaction of their position, as a careful liar would. */
function renumber(receipts: readonly Json[]): void {
  let logIndex = 0;
  for (const receipt of receipts) {
    for (const log of logsOf(receipt)) {
      log['logIndex'] = `0x${(logIndex++).toString(16)}`;
      log['transactionHash'] = receipt['transactionHash'];
      log['transactionIndex'] = receipt['transactionIndex'];
    }
  }
}
const alterHex = (value: unknown, pick: number): string => {
  const text = String(value);
  if (text.length <= 2) return '0x01';
  const place = 2 + (pick % (text.length - 2));
  const digit = (Number.parseInt(text[place]!, 16) + 1 + (pick % 15)) % 16;
  return text.slice(0, place) + digit.toString(16) + text.slice(place + 1);
};

type Lie = (said: Said, a: number, b: number, others: readonly Said[]) => void;

const withLogs = ({ receipts }: Said): Json[] => receipts.filter((each) => logsOf(each).length > 0);
const transactionsOf = ({ block }: Said): Json[] => block['transactions'] as Json[];
const TRANSACTION_FIELDS = [
  ...['to', 'value', 'input', 'nonce', 'gas', 'gasPrice', 'hash', 'v', 'r', 's'],
  ...['transactionIndex', 'maxFeePerGas', 'type'],
];
const RECEIPT_FIELDS = ['status', 'gasUsed', 'cumulativeGasUsed', 'contractAddress'];
const HEADER_FIELDS = [
  ...['parentHash', 'timestamp', 'number', 'receiptsRoot', 'transactionsRoot', 'logsBloom'],
  ...['gasUsed', 'stateRoot', 'baseFeePerGas', 'withdrawalsRoot'],
];

const LIES: Record<string, Lie> = {
  'a log is hidden': (said, a, b) => {
    const logs = logsOf(at(withLogs(said), a));
    logs.splice(b % logs.length, 1);
    if (b % 2 === 0) renumber(said.receipts);
  },
  'a log is altered': (said, a, b) => {
    const log = at(logsOf(at(withLogs(said), a)), b);
    const topics = log['topics'] as string[];
    const field = at(['address', 'data', 'topics', 'garbage', 'logIndex'], a + b);
    if (field === 'topics') topics[0] = alterHex(topics[0], b);
    else if (field === 'garbage') log['data'] = `${String(log['data'])}${at(['f', 'zz', ' '], a)}`;
    else log[field] = alterHex(log[field], a);
  },
  'a topic is removed or added': (said, a, b) => {
    const topics = at(logsOf(at(withLogs(said), a)), b)['topics'] as string[];
    if (a % 2 === 0) topics.pop();
    else topics.push(topics[0]!);
  },
  'a log is added': (said, a, b) => {
    const log = structuredClone(at(logsOf(at(withLogs(said), a)), b));
    logsOf(at(said.receipts, b)).splice(a % 3, 0, log);
    renumber(said.receipts);
  },
  'a log is moved': (said, a, b) => {
    const logs = logsOf(at(withLogs(said), a));
    const [log] = logs.splice(b % logs.length, 1);
    logsOf(at(said.receipts, a + 1 + b)).push(log!);
    renumber(said.receipts);
  },
  'a log names another transaction': (said, a, b) => {
    const log = at(logsOf(at(withLogs(said), a)), b);
    const other = at(said.receipts, b + 1);
    log['transactionHash'] = other['transactionHash'];
    log['transactionIndex'] = other['transactionIndex'];
  },
  'the receipts are cut off': (said, a) => {
    said.receipts.length = a % said.receipts.length;
  },
  'the transactions and their receipts are cut off': (said, a) => {
    const left = a % said.receipts.length;
    said.receipts.length = left;
    transactionsOf(said).length = left;
  },
  'two transactions are swapped': (said, a, b) => {
    const all = transactionsOf(said);
    const [one, other] = [a % all.length, b % all.length];
    [all[one], all[other]] = [all[other]!, all[one]!];
    if (a % 2 === 0)
      for (const [n, each] of all.entries()) each['transactionIndex'] = `0x${n.toString(16)}`;
  },
  'a transaction is altered': (said, a, b) => {
    const transaction = at(transactionsOf(said), a);
    const field = at(TRANSACTION_FIELDS, b);
    transaction[field] = alterHex(transaction[field], a);
    if (field === 'hash') at(said.receipts, a)['transactionHash'] = transaction['hash'];
  },
  'a transaction is of another block': (said, a, b, others) => {
    const all = transactionsOf(said);
    const n = a % all.length;
    const other = at(transactionsOf(at(others, a)), b);
    all[n] = { ...structuredClone(other), transactionIndex: all[n]!['transactionIndex'] };
    said.receipts[n]!['transactionHash'] = other['hash'];
    renumber(said.receipts);
  },
  'a receipt is of another block': (said, a, b, others) => {
    const n = a % said.receipts.length;
    const { transactionHash, transactionIndex, blockHash } = said.receipts[n]!;
    const other = structuredClone(at(at(others, b).receipts, a));
    for (const log of logsOf(other)) log['blockHash'] = blockHash;
    said.receipts[n] = { ...other, transactionHash, transactionIndex, blockHash };
    renumber(said.receipts);
  },
  'a receipt is altered': (said, a, b) => {
    const receipt = at(said.receipts, a);
    const field = at(RECEIPT_FIELDS, b);
    receipt[field] =
      receipt[field] === null ? address(b) : a % 5 === 0 ? null : alterHex(receipt[field], a);
  },
  'the header is altered': ({ block }, a, b) => {
    const field = at(HEADER_FIELDS, a);
    block[field] = alterHex(block[field], b);
    if (a % 2 === 0) block['fieldOfALaterFork'] = '0x1';
  },
};

/** Makes a block unprovable for every node, as on a chain with other roots. */
function withOtherRoots({ block, receipts }: Said): Said {
  const header = { ...block, receiptsRoot: `0x${'ee'.repeat(32)}`, transactionsRoot: '0x' };
  return { block: header, receipts };
}

/** The other nodes, the kind of chain, and whether its accepted blocks are marked. */
const SITUATIONS: [string, string, (lie: Said, truth: Said) => Said[], isMarked?: true][] = [
  ['the only node of a chain of standard rules', STANDARD, (lie) => [lie]],
  ['the first of two nodes of a chain of standard rules', STANDARD, (lie, truth) => [lie, truth]],
  ['the first of two nodes of another chain', OTHER, (lie, truth) => [lie, truth]],
  ['the second of two nodes of another chain', OTHER, (lie, truth) => [truth, lie]],
  [
    'one of two nodes of a chain whose roots prove nothing',
    OTHER,
    (lie, truth) => [withOtherRoots(lie), withOtherRoots(truth)],
    true,
  ],
];

describe.each(SITUATIONS)('%s that lies', (_, chain, ask, isMarked) => {
  test('is never believed', { timeout: 300_000 }, async () => {
    let lies = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(LIES)),
        fc.constantFrom(...SMALL_BLOCKS, ...SMALL_BLOCKS, ...SMALL_BLOCKS, LARGE_BLOCK),
        fc.nat(1_000_000),
        fc.nat(1_000_000),
        async (kind, which, a, b) => {
          const { block, receipts, header, honest } = blocks[which]!;
          const said = structuredClone({ block, receipts });
          LIES[kind]!(said, a, b, blocks);
          if (JSON.stringify(said) !== JSON.stringify({ block, receipts })) lies++;
          const accepted = await accept(chain, header, ask(said, { block, receipts })).catch(
            () => undefined,
          );
          if (accepted !== undefined) {
            expect(accepted, kind).toEqual({ parts: honest, isMarked: isMarked === true });
          }
        },
      ),
      { numRuns: RUNS },
    );
    expect(lies).toBeGreaterThanOrEqual(RUNS * 0.8);
  });
});

describe('the only node of a chain of standard rules', () => {
  test('is not believed when it hides or alters the contract of a creation', async () => {
    const { block, receipts, header } = blocks[LARGE_BLOCK]!;
    const creation = receipts.findIndex((each) => each['contractAddress'] !== null);
    for (const contractAddress of [null, address(1)]) {
      const said = structuredClone({ block, receipts });
      said.receipts[creation]!['contractAddress'] = contractAddress;
      await expect(accept(STANDARD, header, [said])).rejects.toThrow(/a contract address/);
    }
  });

  test.each(Object.keys(LIES))('is not believed when %s', async (kind) => {
    const { block, receipts, header, honest } = blocks[LARGE_BLOCK]!;
    let rejected = 0;
    for (let pick = 0; pick < 20; pick++) {
      const said = structuredClone({ block, receipts });
      LIES[kind]!(said, 11 + pick, 22 + 7 * pick, blocks);
      const accepted = await accept(STANDARD, header, [said]).catch(() => undefined);
      // Some lies change nothing that counts: the roots decide the places of logs and transactions.
      if (accepted === undefined) rejected++;
      else expect(accepted.parts).toBe(honest);
    }
    expect(rejected > 0).toBe(kind !== 'a log names another transaction');
  });

  test.each(['effectiveGasPrice', 'l1Fee'])('is not believed when it alters %s', async (field) => {
    const { block, receipts, header, honest } = blocks[1]!;
    for (const receipt of receipts.keys()) {
      const said = structuredClone({ block, receipts });
      said.receipts[receipt]![field] = '0x1';
      await expect(accept(STANDARD, header, [said])).rejects.toThrow(/the fee of a receipt/);
      said.receipts[receipt]![field] = null;
      expect((await accept(STANDARD, header, [said])).parts).toBe(honest);
    }
  });
});

test('the only node of a chain of standard rules is asked for receipts, also for logs alone', async () => {
  const chain = await startScriptedChain({ chainId: 1 });
  const log = { address: address(1), topics: [topic(1)], data: '0x' as const };
  chain.mine({ transactions: [{ from: address(2), to: address(1), logs: [log, log] }] });
  const source = createEvmSource({
    chain: STANDARD,
    urls: [chain.url],
    pollMs: 1_000,
    log: createLog(() => {}),
  });
  const read = await source.readBlockAt(1, { ...FULL, transactions: false });
  expect(read?.block.logs).toHaveLength(2);
  expect(chain.calls).toMatchObject({ eth_getBlockReceipts: 1 });
  expect(chain.calls).not.toHaveProperty('eth_getLogs');
  await source.stop();
  await chain.stop();
});
