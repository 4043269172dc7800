/** Tests how answers of nodes are compared, and that an accepted block is still on the chain. */
import { describe, expect, test } from 'vitest';
import { createLog } from '../../../base/log.ts';
import {
  contentOf,
  createAcceptance,
  findMajority,
  lacksParts,
  toUnverified,
} from './acceptance.ts';
import type { Answer } from './answers.ts';
import { type Network, networkOf } from './networks.ts';
import type { Provider } from './provider.ts';

type Transaction = Answer['transactions'][number];

const logOf = (data: string, logIndex = 0): Answer['logs'][number] => ({
  logIndex,
  transactionHash: '0xaa',
  transactionIndex: 0,
  address: '0xbb',
  topics: [],
  data,
});
const transactionOf = (hash: string, fee: Transaction['receipt']['fee'] = null): Transaction =>
  ({ hash, receipt: { fee } }) as Transaction;
const answerOf = (data: readonly string[], more: Partial<Answer> = {}): Answer => ({
  logs: data.map((each) => logOf(each)),
  transactions: [],
  findings: [],
  notes: [],
  isProven: false,
  ...more,
});
const FAILED: Answer['findings'][number] = {
  code: 'receipts',
  result: 'failed',
  reason: 'a transaction has no receipt',
};
const LACKS: Partial<Answer> = { findings: [FAILED] };
const operatorOf = ({ name }: Provider): string => name[0]!;
const readAnswers = (answers: Record<string, Answer>) =>
  new Map(Object.entries(answers).map(([name, answer]) => [{ name } as Provider, answer]));

describe('an answer lacks parts of another', () => {
  test('only if its checks show this, and the other has no failed check', () => {
    expect(lacksParts(answerOf(['0x01'], LACKS), answerOf(['0x01', '0x02']))).toBe(true);
    expect(lacksParts(answerOf(['0x01']), answerOf(['0x01', '0x02']))).toBe(false);
    expect(lacksParts(answerOf(['0x01'], LACKS), answerOf(['0x01', '0x02'], LACKS))).toBe(false);
  });

  test('only if the other has all of its logs and transactions', () => {
    expect(lacksParts(answerOf(['0x03'], LACKS), answerOf(['0x01', '0x02']))).toBe(false);
    const less = answerOf([], { ...LACKS, transactions: [transactionOf('0x1')] });
    expect(lacksParts(less, answerOf([], { transactions: [transactionOf('0x2')] }))).toBe(false);
    const more = answerOf([], { transactions: [transactionOf('0x2'), transactionOf('0x1')] });
    expect(lacksParts(less, more)).toBe(true);
  });
});

describe('the content of answers is the same', () => {
  test('whatever the indices of their logs are', () => {
    const [one, other] = [0, 5].map((index) => answerOf([], { logs: [logOf('0x01', index)] }));
    expect(contentOf(one!)).toBe(contentOf(other!));
  });

  test('even if one has no fees', () => {
    const fees = [null, { price: '0x1', l1Fee: '0x0' }];
    const [one, other] = fees.map((fee) =>
      answerOf([], { transactions: [transactionOf('0x1', fee)] }),
    );
    expect(contentOf(one!)).toBe(contentOf(other!));
  });
});

test('the content of answers differs with any other field of a log or transaction', () => {
  const log = logOf('0x01');
  const transaction = { ...transactionOf('0x1'), value: '0x1', from: '0xaa', input: '0x' };
  const contentWith = (logs: Answer['logs'], transactions: Transaction[]): string =>
    contentOf(answerOf([], { logs, transactions }));
  const others = [
    contentWith([], [transaction]),
    contentWith([{ ...log, data: '0x02' }], [transaction]),
    contentWith([{ ...log, topics: ['0x03'] }], [transaction]),
    contentWith([{ ...log, address: '0xcc' }], [transaction]),
    contentWith([{ ...log, transactionHash: '0xab' }], [transaction]),
    contentWith([log, { ...log, data: '0x02' }], [transaction]),
    contentWith([{ ...log, data: '0x02' }, log], [transaction]),
    contentWith([log], []),
    contentWith([log], [{ ...transaction, value: '0x2' }]),
    contentWith([log], [{ ...transaction, from: '0xab' }]),
    contentWith([log], [{ ...transaction, input: '0x00' }]),
    contentWith([log], [{ ...transaction, receipt: { ...transaction.receipt, status: '0x0' } }]),
  ];
  expect(new Set([contentWith([log], [transaction]), ...others]).size).toBe(others.length + 1);
});

test('an accepted block is marked with its failed checks and with what its nodes said differently', () => {
  const marksOf = (more: Partial<Answer>, deviations: Network['deviations'] = []) =>
    toUnverified(answerOf([], more), 2, { deviations });
  const notes: Answer['notes'] = ['log-indices'];
  expect(marksOf({})).toBeUndefined();
  expect(marksOf({ notes })).toEqual({ codes: notes, witnesses: 2, isUncertain: false });
  const both = marksOf({ notes, findings: [FAILED] })!;
  expect(both.codes.toSorted()).toEqual(['log-indices', 'receipts']);
  expect(both.isUncertain).toBe(true);
  const indices = { code: 'log-indices', result: 'failed', reason: '' } as const;
  expect(marksOf({ findings: [indices] })).toMatchObject({ isUncertain: true });
  expect(marksOf({ findings: [indices] }, ['log-indices'])).toMatchObject({ isUncertain: false });
});

describe('the decision', () => {
  test('counts operators, not nodes', () => {
    const answers = { a1: answerOf(['0x01']), a2: answerOf(['0x01']), b: answerOf(['0x02']) };
    expect(findMajority(readAnswers(answers), operatorOf)).toMatchObject({
      operators: 1,
      isUnanimous: false,
    });
  });

  test('needs a majority', () => {
    const half = { a: answerOf(['0x01']), b: answerOf(['0x02']), c: answerOf(['0x01']) };
    expect(findMajority(readAnswers(half), operatorOf).operators).toBe(2);
    const none = { ...half, d: answerOf(['0x02']) };
    expect(findMajority(readAnswers(none), operatorOf).operators).toBe(1);
  });

  test('takes the answer with the fewest failed checks among the same content', () => {
    const answers = { a: answerOf(['0x01'], LACKS), b: answerOf(['0x01']) };
    expect(findMajority(readAnswers(answers), operatorOf).answer.findings).toEqual([]);
  });
});

interface World {
  chain?: string;
  deviations?: Network['deviations'];
  /** Whether content has been the same for as long as it must. */
  isSettled?: boolean;
  answers: Record<string, Answer>;
}

/** Decides about a block from nodes whose first letter is their operator. */
function decideFrom({ chain = '0x7a69', deviations, isSettled = true, answers }: World) {
  const network = networkOf(chain);
  const faults: string[] = [];
  const reads: string[] = [];
  let place = '0x01';
  const nodes = Object.keys(answers).map((name) => {
    const readHeaderAt = async () => ({ hash: place });
    return { name, fault: () => faults.push(name), readHeaderAt } as unknown as Provider;
  });
  const accept = createAcceptance({
    chain,
    trust: 'evidence',
    settleMs: 120_000,
    log: createLog(() => {}),
    network: { ...network, deviations: deviations ?? network.deviations },
    settling: { remainingMs: (_block, _content, waitMs) => (isSettled ? 0 : waitMs) },
    nodes: { operatorOf, witnesses: (of) => nodes.filter((each) => each.name[0] !== of.name[0]) },
  });
  const read = () =>
    accept(
      { number: 1, hash: '0x01' },
      async (ask) => {
        // Nodes that lack a part are tried twice.
        for (const node of [...nodes, ...nodes]) {
          const found = await ask(node);
          if (found !== undefined) return found;
        }
        return undefined;
      },
      async ({ name }) => {
        reads.push(name);
        return answers[name]!;
      },
    );
  return { read, faults, reads, move: (hash: string) => (place = hash) };
}

test('a block that fails a check is not accepted once another one is at its height', async () => {
  const { read, move } = decideFrom({ answers: { a: answerOf(['0x01'], LACKS) } });
  expect((await read()).unverified).toMatchObject({ codes: ['receipts'], isUncertain: true });
  move('0x02');
  await expect(read()).rejects.toMatchObject({ kind: 'missing' });
});

test('a block that fails a check is never accepted on a chain of standard rules', async () => {
  const lacking = answerOf(['0x01'], LACKS);
  const { read } = decideFrom({ chain: '0x1', answers: { a: lacking, b: lacking } });
  await expect(read()).rejects.toMatchObject({ kind: 'missing' });
});

test('a block that is not understood waits on a chain of standard rules, but not elsewhere', async () => {
  const unknown: Answer['findings'][number] = {
    code: 'header-hash',
    result: 'not-applicable',
    reason: 'unknown header fields x',
  };
  const answers = { a: answerOf(['0x01'], { findings: [unknown] }) };
  const strict = decideFrom({ chain: '0x1', isSettled: false, answers });
  await expect(strict.read()).rejects.toMatchObject({ kind: 'settling' });
  const other = decideFrom({ isSettled: false, answers });
  expect((await other.read()).unverified).toMatchObject({ codes: ['header-hash'] });
});

test('a block of a single node needs no wait where its network deviates', async () => {
  const answers = { a: answerOf(['0x01'], { findings: [{ ...FAILED, code: 'receipts-root' }] }) };
  const other = decideFrom({ isSettled: false, answers });
  await expect(other.read()).rejects.toMatchObject({ kind: 'settling' });
  const known = decideFrom({ isSettled: false, answers, deviations: ['receipts-root'] });
  expect((await known.read()).unverified).toMatchObject({ isUncertain: false });
});

test('a block with missing parts stays uncertain, although its network deviates', async () => {
  const answers = { a: answerOf(['0x01'], LACKS) };
  const { read } = decideFrom({ answers, deviations: ['receipts'] });
  expect((await read()).unverified).toMatchObject({ isUncertain: true });
});

test('each node is read once, and those with other content than the majority are blamed', async () => {
  const { read, faults, reads } = decideFrom({
    answers: { a: answerOf(['0x01'], LACKS), b: answerOf(['0x02']), c: answerOf(['0x02']) },
  });
  expect((await read()).logs.map(({ data }) => data)).toEqual(['0x02']);
  expect(reads).toEqual(['a', 'b', 'c']);
  expect(faults).toEqual(['a']);
});
