/** Tests how answers of nodes are compared, and that an accepted block is still on the chain. */
import { describe, expect, test } from 'vitest';
import { createLog } from '../../base/log.ts';
import { contentOf, createAcceptance, decide, lacksParts } from './acceptance.ts';
import type { Answer } from './answers.ts';
import { networkOf } from './networks.ts';
import type { Provider } from './provider.ts';

type Transaction = Answer['transactions'][number];

const logOf = (data: string, logIndex = 0): Answer['logs'][number] => ({
  ...{ logIndex, transactionHash: '0xaa', transactionIndex: 0 },
  ...{ address: '0xbb', topics: [], data },
});
const transactionOf = (hash: string, fee: Transaction['receipt']['fee'] = null): Transaction =>
  ({ hash, receipt: { fee } }) as Transaction;
const answerOf = (data: readonly string[], more: Partial<Answer> = {}): Answer => ({
  ...{ logs: data.map((each) => logOf(each)), transactions: [] },
  ...{ findings: [], notes: [], isProven: false },
  ...more,
});
const FAILED: Answer['findings'][number] = {
  ...{ code: 'receipts', result: 'failed', reason: 'a transaction has no receipt' },
};
const LACKS: Partial<Answer> = { findings: [FAILED] };
const operatorOf = ({ name }: Provider): string => name[0]!;
const hear = (answers: Record<string, Answer>) =>
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

describe('the decision', () => {
  test('counts operators, not nodes', () => {
    const answers = { a1: answerOf(['0x01']), a2: answerOf(['0x01']), b: answerOf(['0x02']) };
    expect(decide(hear(answers), operatorOf)).toMatchObject({ operators: 1, isUnanimous: false });
  });

  test('needs a majority', () => {
    const half = { a: answerOf(['0x01']), b: answerOf(['0x02']), c: answerOf(['0x01']) };
    expect(decide(hear(half), operatorOf).operators).toBe(2);
    const none = { ...half, d: answerOf(['0x02']) };
    expect(decide(hear(none), operatorOf).operators).toBe(1);
  });

  test('takes the answer with the fewest failed checks among the same content', () => {
    const answers = { a: answerOf(['0x01'], LACKS), b: answerOf(['0x01']) };
    expect(decide(hear(answers), operatorOf).answer.findings).toEqual([]);
  });
});

test('a block that fails a check is not accepted once another one is at its height', async () => {
  const node = { name: 'a', hash: '0x01', fault() {} };
  const readHeaderAt = async () => ({ hash: node.hash });
  const accept = createAcceptance({
    ...{ chain: '0x7a69', trust: 'evidence', network: networkOf('0x7a69'), settleMs: 1 },
    ...{ settling: { remainingMs: () => 0 }, log: createLog(() => {}) },
    nodes: { operatorOf, witnesses: () => [] },
  });
  const read = () =>
    accept(
      { number: 1, hash: '0x01' },
      (ask) => ask(Object.assign(node, { readHeaderAt }) as unknown as Provider),
      async () => answerOf(['0x01'], LACKS),
    );
  expect((await read()).unverified).toMatchObject({ codes: ['receipts'], isUncertain: true });
  node.hash = '0x02';
  await expect(read()).rejects.toMatchObject({ kind: 'missing' });
});

test.each([
  [['receipts-root'], 'at once, because its network deviates there', false],
  [[], 'after a wait', true],
] as const)(
  'with the deviations %o, a block of a single node is accepted %s',
  async (deviations, _, waits) => {
    const accept = createAcceptance({
      ...{ chain: '0x7a69', trust: 'evidence', settleMs: 120_000 },
      network: { ...networkOf('0x7a69'), deviations },
      ...{
        settling: { remainingMs: (_block, _content, waitMs) => waitMs },
        log: createLog(() => {}),
      },
      nodes: { operatorOf, witnesses: () => [] },
    });
    const node = { name: 'a', fault() {}, readHeaderAt: async () => ({ hash: '0x01' }) };
    const found = accept(
      { number: 1, hash: '0x01' },
      (ask) => ask(node as unknown as Provider),
      async () => answerOf(['0x01'], { findings: [{ ...FAILED, code: 'receipts-root' }] }),
    );
    if (waits) await expect(found).rejects.toMatchObject({ kind: 'settling' });
    else expect((await found).unverified).toMatchObject({ isUncertain: false });
  },
);
