import { describe, expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import type { BlockCommit, BlockHeader, CommitOutcome } from '../store/blocks/contract.ts';
import type { Store } from '../store/store.ts';
import { createLocalChain, haltError } from './localChain.ts';
import { createConfirmationRule } from './confirming.ts';

const header = (number: number, branch = 'a'): BlockHeader => ({
  number,
  hash: `${branch}${number}`,
  parentHash: `${branch}${number - 1}`,
  timestamp: number,
});

/** @param finalized the finalized block, of a chain that confirms by it; by default, 2 blocks confirm */
function open(finalized?: BlockHeader) {
  const calls: string[] = [];
  const rewinds: number[] = [];
  const childCalls: string[] = [];
  const commits: BlockCommit[] = [];
  let failure: Error | undefined;
  const child = { streamId: 's', factory: 'f', address: '0x01' };
  let outcome: CommitOutcome | undefined = { outcome: 'committed', children: [child] };
  const answer = (call: string) => {
    calls.push(call);
    return Promise.resolve(outcome === undefined ? undefined : []);
  };
  /** The ledger leaves out the second one. */
  const children = [child, { ...child, address: '0x02' }];
  const store = {
    startChain: () => answer('start'),
    rewindChain: async () => (await answer('rewind')) && [child],
    commitBlock: async (commit: BlockCommit) => {
      commits.push(commit);
      if (failure !== undefined) throw failure;
      return outcome ?? { outcome: 'lost-lease' };
    },
    readWindow: () => Promise.resolve([header(9, 'stored')]),
    endHalt: () => answer('end halt'),
    recordHalt: ({ why }: { why: string }) => answer(why),
  } as unknown as Store;
  const local = createLocalChain(
    { chain: '0x1', epoch: 1 },
    {
      store,
      confirming: createConfirmationRule(finalized === undefined ? 2 : 'finalized', {
        block: () => finalized,
        lacks: () => false,
      }),
      finality: { rewind: (to) => void rewinds.push(to) },
      children: {
        change: ({ added = [], removed = [] }) =>
          void childCalls.push(`+${added.length} -${removed.length}`),
        forget: () => void childCalls.push('forget'),
      },
      listener: { onBlock: () => calls.push('block') },
      log: createLog(() => {}),
    },
  );
  return {
    local,
    calls,
    rewinds,
    childCalls,
    commits,
    hashes: () => local.window().map(({ hash }) => hash),
    append: (block: BlockHeader, after?: BlockHeader) =>
      local.append(block, { after, ruleRevision: 1, matches: [], children, head: block.number }),
    answerWith: (next: typeof outcome) => (outcome = next),
    failWith: (error: Error) => (failure = error),
  };
}

describe('the window', () => {
  test('contains committed blocks, newest first, without removed ones', async () => {
    const { local, append, hashes, rewinds } = open();
    await local.startAt(header(1), 'genesis');
    for (const number of [2, 3, 4]) await append(header(number));
    expect(local.confirmedHeights()?.chain).toBe(2);
    await local.rewind(header(2), 2);
    expect(hashes()).toEqual(['a2', 'a1']);
    expect(rewinds, 'tagged blocks above are forgotten').toEqual([1, 2]);
    await append(header(3, 'b'));
    expect(hashes()).toEqual(['b3', 'a2', 'a1']);
  });

  test('ends above the blocks that are settled: confirmed, and too old for a reorg', async () => {
    const settledAt = async (number: number, finalized?: BlockHeader) => {
      const { local } = open(finalized);
      await local.startAt(header(number), 'genesis');
      return local.settledUpTo();
    };
    expect(await settledAt(255)).toBeNull();
    expect(await settledAt(256)).toBe(0);
    expect(await settledAt(1_000)).toBe(744);
    expect(await settledAt(20_000, header(10_000))).toBe(20_000 - 10_064);
    expect(await settledAt(40_000, header(10_000)), 'the limit of the window').toBe(10_000);
    expect(await settledAt(10_000, header(10_000, 'b'))).toBeNull();
  });

  test('starts over after blocks that were passed over, so it has no holes', async () => {
    const { local, append, hashes } = open();
    await local.startAt(header(1), 'genesis');
    await append(header(50), header(1));
    expect(hashes()).toEqual(['a50']);
  });

  test('is read again if another process moved the checkpoint, but not if rules changed', async () => {
    const { local, append, hashes, answerWith, calls } = open();
    await local.startAt(header(1), 'genesis');
    answerWith({ outcome: 'stale-rules', revision: 7 });
    expect(await append(header(2))).toEqual({ outcome: 'stale-rules', revision: 7 });
    expect(hashes()).toEqual(['a1']);
    answerWith({ outcome: 'not-next' });
    expect(await append(header(2))).toBe('settled');
    expect(hashes()).toEqual(['stored9']);
    expect(calls).not.toContain('block');
  });
});

test('a block after blocks that were passed over confirms none if the finalized one is of another branch', async () => {
  for (const [branch, expected] of [
    ['a', 2],
    ['b', -1],
  ] as const) {
    const { local, append, commits } = open(header(2, branch));
    await local.startAt(header(2), 'genesis');
    await append(header(50), header(2));
    expect(commits).toMatchObject([{ confirmUpTo: expected, tagged: { finalized: expected } }]);
  }
});

test('every write with a lost lease throws and changes nothing', async () => {
  const { local, append, hashes, answerWith } = open();
  await local.startAt(header(1), 'genesis');
  answerWith(undefined);
  await expect(append(header(2))).rejects.toMatchObject({ code: 'lost_lease' });
  await expect(local.rewind(header(0), 1)).rejects.toMatchObject({ code: 'lost_lease' });
  await expect(local.startAt(header(5), 'genesis')).rejects.toMatchObject({ code: 'lost_lease' });
  expect(hashes()).toEqual(['a1']);
});

test('a halt ends once, with the next block', async () => {
  const { local, append, calls } = open();
  await local.startAt(header(1), 'genesis');
  await append(header(2));
  await append(header(3));
  await local.recordHalt(haltError('it is full').message);
  await append(header(4));
  expect(calls).toEqual(['start', 'end halt', 'block', 'block', 'it is full', 'end halt', 'block']);
});

describe('children of factories', () => {
  test('change with what each commit adds, and with each rewind', async () => {
    const { local, append, childCalls } = open();
    await local.startAt(header(1), 'genesis');
    await append(header(2));
    await local.rewind(header(1), 1);
    expect(childCalls).toEqual(['forget', '+1 -0', '+0 -1']);
  });

  test('stay the same if the block must be matched again', async () => {
    const { local, append, childCalls, answerWith } = open();
    await local.startAt(header(1), 'genesis');
    answerWith({ outcome: 'stale-rules', revision: 7 });
    await append(header(2));
    expect(childCalls).toEqual(['forget']);
  });

  test('are forgotten if it is unknown what the ledger has', async () => {
    const { local, append, childCalls, answerWith, failWith } = open();
    await local.startAt(header(1), 'genesis');
    answerWith({ outcome: 'not-next' });
    await append(header(2));
    expect(childCalls).toEqual(['forget', 'forget']);
    failWith(new Error('the connection was lost'));
    await expect(append(header(2))).rejects.toThrow('the connection was lost');
    expect(childCalls).toHaveLength(3);
  });
});
