import { afterEach, describe, expect, test, vi } from 'vitest';
import type { BlockRef, FinalityTag } from '../store/blocks/contract.ts';
import { createFinality } from './finality.ts';
import { SourceError } from './source.ts';

type Answers = Record<FinalityTag, number | undefined | Error>;

/** Opens the finality of a source with these heights or errors by tag, which can change. */
const open = (answers: Answers, awaited: FinalityTag[] = []) => {
  const asked: string[] = [];
  const source = {
    async readTagged(tag: FinalityTag, from: 'all' | 'any'): Promise<BlockRef | undefined> {
      asked.push(`${tag} of ${from}`);
      const answer = answers[tag];
      if (answer instanceof Error) throw answer;
      return answer === undefined ? undefined : { number: answer, hash: `0x${answer}` };
    },
  };
  return { finality: createFinality(source, async () => awaited), asked, answers, awaited };
};

afterEach(() => {
  vi.restoreAllMocks();
});

/** Lets this much time pass on the monotonic clock. */
const pass = (ms: number): void => {
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + ms);
};

const AWAY = new SourceError('unreachable', 'away');

describe('tags for display', () => {
  test('are read from one node, and not again within seconds, even if the head moves', async () => {
    const { finality, asked } = open({ safe: 32, finalized: 7 });
    expect(finality.heights()).toEqual({ safe: null, finalized: null });
    await Promise.all([finality.refresh(64), finality.refresh(65)]);
    await finality.refresh(66);
    expect(finality.heights()).toEqual({ safe: 32, finalized: 7 });
    expect(asked).toEqual(['safe of any', 'finalized of any']);
    pass(16_000);
    await finality.refresh(66);
    expect(asked).toHaveLength(4);
    pass(16_000);
    await finality.refresh(66);
    expect(asked, 'the head has not moved').toHaveLength(4);
  });

  test('are read every minute while the nodes know neither, as usual if they know one', async () => {
    const { finality, asked, answers } = open({ safe: undefined, finalized: undefined });
    await finality.refresh(64);
    pass(16_000);
    await finality.refresh(65);
    expect(asked).toHaveLength(2);
    answers.finalized = 7;
    for (const ms of [45_000, 16_000]) {
      pass(ms);
      await finality.refresh(65 + ms);
    }
    expect(asked).toHaveLength(6);
  });

  test('confirm nothing', async () => {
    const { finality } = open({ safe: 32, finalized: 7 });
    expect(await finality.refresh(64)).toBe(false);
    expect(finality.block('safe')).toBeUndefined();
    expect(finality.block('finalized')).toBeUndefined();
  });

  test('that a node does not know, or fails to read, have no height', async () => {
    const unknown = open({ safe: undefined, finalized: 7 }).finality;
    await unknown.refresh(64);
    expect(unknown.heights()).toEqual({ safe: null, finalized: 7 });
    expect([unknown.lacks('safe'), unknown.lacks('finalized')]).toEqual([true, false]);

    const failing = open({ safe: AWAY, finalized: 7 }).finality;
    await failing.refresh(64);
    expect(failing.heights()).toEqual({ safe: null, finalized: 7 });
    expect(failing.lacks('safe')).toBe(false);
  });
});

describe('tags that matches wait for', () => {
  test('are read from all nodes, every two seconds', async () => {
    const { finality, asked, answers } = open({ safe: 32, finalized: 7 }, ['safe']);
    expect(await finality.refresh(64)).toBe(true);
    expect(finality.block('safe')).toEqual({ number: 32, hash: '0x32' });
    expect(asked).toEqual(['safe of all', 'finalized of any']);
    answers.safe = 33;
    expect(await finality.refresh(65)).toBe(false);
    for (const number of [33, 34]) {
      answers.safe = number;
      pass(2_100);
      expect(await finality.refresh(65)).toBe(true);
      expect(finality.block('safe')?.number).toBe(number);
    }
  });

  test('are read again after the ledger could not list them', async () => {
    let isAway = true;
    const finality = createFinality(
      { readTagged: async (tag) => ({ number: 32, hash: tag }) },
      async () => {
        if (isAway) throw new Error('away');
        return ['safe'];
      },
    );
    await expect(finality.refresh(64)).rejects.toThrow('away');
    isAway = false;
    pass(2_100);
    expect(await finality.refresh(65)).toBe(true);
  });

  test('stay at the highest height, whatever lagging or failing nodes report', async () => {
    const { finality, answers } = open({ safe: 32, finalized: 7 }, ['safe']);
    await finality.refresh(64);
    for (const answer of [32, 31, AWAY, undefined]) {
      answers.safe = answer;
      pass(2_100);
      expect(await finality.refresh(65)).toBe(false);
      expect(finality.block('safe')?.number).toBe(32);
      expect(finality.lacks('safe')).toBe(answer === undefined);
    }
  });

  test('do not start from what one node reported', async () => {
    const { finality, answers, awaited } = open({ safe: 90, finalized: 7 });
    await finality.refresh(64);
    awaited.push('safe');
    answers.safe = 32;
    pass(16_000);
    await finality.refresh(65);
    expect(finality.block('safe')?.number).toBe(32);
  });

  test('are forgotten if their block left the chain while they are read', async () => {
    const { finality, answers } = open({ safe: 32, finalized: 7 }, ['safe', 'finalized']);
    await finality.refresh(64);
    answers.safe = 40;
    pass(2_100);
    const reading = finality.refresh(65);
    finality.rewind(20);
    expect(await reading).toBe(false);
    expect(finality.block('safe')).toBeUndefined();
    expect(finality.block('finalized')?.number).toBe(7);
  });

  test('are forgotten if their block left the chain, and read again at once', async () => {
    const { finality } = open({ safe: 32, finalized: 7 }, ['safe']);
    await finality.refresh(64);
    finality.rewind(32);
    expect(finality.block('safe')?.number).toBe(32);
    finality.rewind(31);
    expect(finality.block('safe')).toBeUndefined();
    expect(await finality.refresh(64)).toBe(true);
  });

  test('of a slow node delay the caller only briefly', async () => {
    const { promise, resolve } = Promise.withResolvers<BlockRef>();
    const finality = createFinality({ readTagged: () => promise }, async () => ['safe']);
    expect(await finality.refresh(64)).toBe(false);
    resolve({ number: 1, hash: '0x1' });
    await vi.waitFor(() => expect(finality.block('safe')?.number).toBe(1));
  });
});
