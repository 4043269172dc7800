/** Tests which of the answers of all nodes a later reading accepts. */
import { describe, expect, test } from 'vitest';
import type { Answer } from './answers.ts';
import type { Provider } from './provider.ts';
import { SourceError } from '../../../ingest/source.ts';
import { createChooseBest } from './bestAnswer.ts';

const logOf = (n: number): Answer['logs'][number] => ({
  logIndex: n,
  transactionHash: '0xaa',
  transactionIndex: 0,
  address: '0xbb',
  topics: [],
  data: `0x0${n}`,
});
const answerOf = (logs: readonly number[], more: Partial<Answer> = {}): Answer => ({
  logs: logs.map(logOf),
  transactions: [],
  findings: [],
  notes: [],
  isProven: false,
  ...more,
});
const LACKS: Partial<Answer> = {
  findings: [{ code: 'receipts', result: 'failed', reason: 'a transaction has no receipt' }],
};

/** Chooses among the answers of nodes by name; null is a node that is away. */
async function choose(answers: Record<string, Answer | null>) {
  const all = Object.keys(answers).map((name) => ({ name }) as Provider);
  const chooseBest = createChooseBest({
    network: { deviations: [] },
    // The operator of a node is the first letter of its name.
    nodes: { all, operatorOf: ({ name }) => name[0]! },
  });
  const { accepted, isComplete } = await chooseBest(
    { number: 1, hash: '0x01' },
    async (read) => {
      for (const node of all) {
        if (answers[node.name] === null) continue;
        const found = await read(node);
        if (found !== undefined) return found;
      }
      if (Object.values(answers).every((each) => each === null)) {
        throw new SourceError('unreachable', 'away');
      }
      return undefined;
    },
    async ({ name }) => answers[name]!,
  );
  return {
    data: accepted.logs.map(({ data }) => data).join(' '),
    witnesses: accepted.unverified?.witnesses,
    isComplete,
  };
}

describe('the best answer', () => {
  test('is a proven one, whatever the others return', async () => {
    const proven = answerOf([1], { isProven: true });
    expect(await choose({ a: answerOf([2]), b: answerOf([2]), c: proven })).toMatchObject({
      data: '0x01',
      isComplete: true,
      witnesses: undefined,
    });
  });

  test('is the complete one, even if more operators give answers that lack parts', async () => {
    const answers = { a: answerOf([1], LACKS), b: answerOf([1], LACKS), c: answerOf([1, 2]) };
    expect(await choose(answers)).toMatchObject({ data: '0x01 0x02', isComplete: true });
  });

  test('is not one that lacks parts that another has', async () => {
    const answers = { a: answerOf([1, 3], LACKS), b: answerOf([1, 2]), c: answerOf([1, 3], LACKS) };
    expect(await choose(answers)).toMatchObject({ data: '0x01 0x03', witnesses: 2 });
  });

  test('is that of most operators, not of most nodes', async () => {
    const answers = { a1: answerOf([1]), a2: answerOf([1]), b: answerOf([2]), c: answerOf([2]) };
    expect((await choose(answers)).data).toBe('0x02');
    const split = { a1: answerOf([1]), a2: answerOf([1]), b: answerOf([2]) };
    await expect(choose(split)).rejects.toMatchObject({ kind: 'disagreement' });
  });
});

describe('a reading', () => {
  test('is complete if every operator answered', async () => {
    const lacking = answerOf([1], LACKS);
    expect(await choose({ a: lacking, b: lacking })).toMatchObject({ isComplete: true });
    expect(await choose({ a1: lacking, a2: null })).toMatchObject({ isComplete: true });
    expect(await choose({ a: lacking, b: null })).toMatchObject({ isComplete: false });
  });

  test('fails if no node answered', async () => {
    await expect(choose({ a: null })).rejects.toMatchObject({ kind: 'unreachable' });
  });
});
