/** Tests that a response is rejected if it falsifies a block but keeps its hash. */
import { createScriptedChain, scripted, startScriptedChain } from '@sluice/testkit';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { createLog } from '../../../base/log.ts';
import type { Json } from '../../json.ts';
import { toHeader } from '../header.ts';
import type { Provider } from '../provider.ts';
import { createReceiptReader } from '../receiptReader.ts';
import { createProver } from './prover.ts';

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

/**
 * Reads a node's response as the source does. Returns the parts as JSON; throws if the response is
 * rejected.
 */
async function accept(
  header: BlockHeader,
  block: Json,
  receipts: readonly Json[],
): Promise<string> {
  const seen = toHeader(block, prover.headers());
  expect(seen).toEqual(header);
  const liar = {
    name: 'liar',
    request: (method: string, [hash]: readonly unknown[]) =>
      Promise.resolve(
        method === 'eth_getBlockReceipts'
          ? receipts
          : (receipts.find((each) => each['transactionHash'] === hash) ?? null),
      ),
  } as unknown as Provider;
  const { doubts, logs, transactions } = await createReceiptReader(prover).readAll(
    liar,
    block,
    header,
  );
  if (doubts.length > 0) throw new Error(doubts[0]!.message);
  return JSON.stringify({ logs, transactions });
}

const prover = createProver({
  chain: '0x1',
  setting: undefined,
  nodes: () => [],
  store: undefined,
  log: createLog(() => {}),
});

let blocks: { block: Json; receipts: Json[]; header: BlockHeader; honest: string }[];
beforeAll(async () => {
  const read = await readBlocks();
  blocks = await Promise.all(
    read.map(async (each) => {
      const header = toHeader(each.block, 'none');
      return { ...each, header, honest: await accept(header, each.block, each.receipts) };
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

interface Said {
  block: Json;
  receipts: Json[];
}
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

describe('a single node that lies about a block of a provable chain', () => {
  test('is never believed, in 10,000 lies', { timeout: 300_000 }, async () => {
    let lies = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(LIES)),
        fc.nat(3),
        fc.nat(1_000_000),
        fc.nat(1_000_000),
        async (kind, which, a, b) => {
          const { block, receipts, header, honest } = blocks[which]!;
          const said = structuredClone({ block, receipts });
          LIES[kind]!(said, a, b, blocks);
          const accepted = await accept(header, said.block, said.receipts).catch(() => undefined);
          // Some lies change nothing, such as swapping a transaction with itself.
          if (accepted === undefined) lies++;
          else expect(accepted, kind).toBe(honest);
        },
      ),
      { numRuns: 12_000 },
    );
    expect(lies).toBeGreaterThanOrEqual(10_000);
  });

  test.each(Object.keys(LIES))('is refused when %s', async (kind) => {
    const { block, receipts, header } = blocks[2]!;
    const said = structuredClone({ block, receipts });
    LIES[kind]!(said, 11, 23, blocks);
    await expect(accept(header, said.block, said.receipts)).rejects.toThrow();
  });
});
