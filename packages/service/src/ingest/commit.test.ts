import { describe, expect, test } from 'vitest';
import { NO_MATCHES } from './noMatches.test-only.ts';
import { NO_TRACING } from '../base/tracing.ts';
import type { BlockHeader } from '../store/blocks/contract.ts';
import { createBlockCommitter, withSettledRules } from './commit.ts';
import type { StaleRules } from './localChain.ts';

const stale = (revision: number): StaleRules => ({ outcome: 'stale-rules', revision });
const header = (number: number, hash = `a${number}`): BlockHeader => ({
  number,
  hash,
  parentHash: `a${number - 1}`,
  timestamp: number,
});

describe('settled rules', () => {
  const commit = async (answers: (StaleRules | 'settled')[]) => {
    const asked: (number | undefined)[] = [];
    const refresh = (atLeast?: number) => {
      asked.push(atLeast);
      return Promise.resolve(atLeast ?? 1);
    };
    const committed = withSettledRules({ refresh }, () => Promise.resolve(answers.shift()!));
    return { asked, result: await committed.catch((error: Error) => error) };
  };

  test('take a second commit if rules changed, with the settled revision', async () => {
    expect(await commit(['settled'])).toEqual({ asked: [undefined], result: 'settled' });
    expect(await commit([stale(7), 'settled'])).toEqual({
      asked: [undefined, 7],
      result: 'settled',
    });
  });

  test('are never rejected twice', async () => {
    const { asked, result } = await commit([stale(7), stale(8), 'settled']);
    expect(asked).toHaveLength(2);
    expect(result).toBeInstanceOf(Error);
  });
});

/**
 * Opens a chain at block 1, with block 5 as its newest complete block. `watched` lists whether a
 * stream watches the chain at each check; the last value repeats.
 */
function open({ watched = [false], refused = undefined as string | undefined } = {}) {
  const calls: string[] = [];
  const committing = createBlockCommitter<object>('0x1', {
    source: {
      readHeader: (at) => Promise.resolve(header(Number(at), 'ahead')),
      readBlockAt(number) {
        calls.push('read ahead');
        return Promise.resolve({ header: header(number, 'ahead'), block: {} });
      },
      readBlock: ({ hash }) => {
        calls.push(`read ${hash}`);
        return Promise.resolve({});
      },
      sizeOf: () => 1,
      readNewestComplete: () => Promise.resolve(header(5)),
    },
    matcher: {
      refresh: () => Promise.resolve(1),
      needs() {
        const logs = watched.length > 1 ? watched.shift()! : watched[0]!;
        return { logs, transactions: false, traces: false };
      },
      ...NO_MATCHES,
    },
    local: {
      tip: () => header(1),
      append({ hash }, { after }) {
        calls.push(`append ${hash}${after === undefined ? '' : ` after ${after.hash}`}`);
        return Promise.resolve('settled');
      },
    },
    head: () => 6,
    refuseBlocks: () => refused,
    tracing: NO_TRACING,
  });
  return { committing, calls };
}

test('a block read ahead is used if its hash matches, and read again if not', async () => {
  const { committing, calls } = open({ watched: [true] });
  expect((await committing.readHeader(2, 3))?.hash).toBe('ahead');
  await committing.commit(header(2, 'ahead'));
  await committing.commit(header(3));
  expect(calls.filter((call) => call === 'read ahead')).toHaveLength(2);
  expect(calls.filter((call) => call !== 'read ahead')).toEqual([
    ...['append ahead', 'read a3', 'append a3'],
  ]);
});

test('blocks without streams are not read', async () => {
  const { committing, calls } = open();
  expect(await committing.passOver(header(6))).toBe(true);
  expect(calls).toEqual(['append a5 after a1']);
});

test('a stream created in the meantime gets the blocks that would be passed over', async () => {
  const { committing, calls } = open({ watched: [false, true] });
  expect(await committing.passOver(header(6))).toBe(false);
  expect(calls).toEqual([]);
});

test('no block is committed while blocks are refused', async () => {
  const { committing, calls } = open({ watched: [true], refused: 'the disk is full' });
  await expect(committing.commit(header(2))).rejects.toMatchObject({ code: 'chain_halted' });
  expect(calls).toEqual([]);
});
