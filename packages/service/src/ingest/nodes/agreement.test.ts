/** Tests which block is at a height if the nodes differ, without waits longer than a second. */
import { describe, expect, test } from 'vitest';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { createAgreement } from './agreement.ts';
import type { AnyProvider } from './anyProvider.ts';

const headerOf = (hash: string): BlockHeader => ({
  number: 5,
  hash,
  parentHash: '0x0',
  timestamp: 1,
});

interface Node extends AnyProvider {
  /** Hash of the node's block; undefined if it has none. Tests change it. */
  hash: string | undefined;
  hasVote: boolean;
  /** Its head if it has no block 5. */
  head: number;
  /** First block of its branch; undefined if it has the common blocks. */
  ownFrom: number | undefined;
  /** Number of requests for its block. */
  reads: number;
  /** For each disagreement, whether the node was outvoted. */
  disagreements: boolean[];
}

/** Creates a node; the first letter of its name is its operator. */
const createNode = (name: string, hash: string | undefined, hasVote = true): Node => {
  const node = {
    name,
    hash,
    hasVote,
    head: 3,
    ownFrom: undefined as number | undefined,
    score: 1,
    reads: 0,
    disagreements: [] as boolean[],
    async readHeaderAt(number: number) {
      node.reads++;
      if (number === 5) return node.hash === undefined ? undefined : headerOf(node.hash);
      if (node.hash === undefined && number > node.head) return undefined;
      const branch = number >= (node.ownFrom ?? 5) ? 'own' : 'common';
      return { ...headerOf(`${branch} ${number}`), number };
    },
    health: () => ({ head: node.hash === undefined ? node.head : 5 }),
    disagreed: (isOutvoted: boolean) => void node.disagreements.push(isOutvoted),
  };
  return node as unknown as Node;
};

function createWorld(...nodes: Node[]) {
  const agreement = createAgreement(nodes, ({ name }) => name[0]!, '--chain');
  return {
    latest: agreement.latest,
    check: (giver: Node, { isHead = true } = {}) =>
      agreement.check(headerOf(giver.hash!), giver, isHead),
  };
}

describe('a block', () => {
  test('is accepted from the only node', async () => {
    const node = createNode('a', 'x');
    const { check, latest } = createWorld(node);
    expect(latest()).toBeNull();
    expect(await check(node)).toBe(true);
    expect(latest()).toEqual({ blockNumber: 5, state: 'alone' });
  });

  test('has no witness among the nodes of its operator', async () => {
    const [a1, a2] = [createNode('a1', 'x'), createNode('a2', 'y')];
    const { check, latest } = createWorld(a1, a2);
    expect(await check(a1)).toBe(true);
    expect(latest()?.state).toBe('alone');
    expect(a2.reads).toBe(0);
  });

  test('that a witness has is accepted', async () => {
    const [a, b] = [createNode('a', 'x'), createNode('b', 'x')];
    const { check, latest } = createWorld(a, b);
    expect(await check(a)).toBe(true);
    expect(latest()?.state).toBe('agreed');
  });

  test.each([
    ['two nodes', [createNode('b', 'y')]],
    ['two operators with more nodes here', [createNode('a2', 'x'), createNode('b', 'y')]],
    ['two operators with more nodes there', [createNode('b1', 'y'), createNode('b2', 'y')]],
    ['two of four nodes', ['y', 'y', 'x'].map((hash, n) => createNode('bcd'[n]!, hash))],
  ])('on which %s differ is not accepted', async (_, others) => {
    const giver = createNode('a', 'x');
    const { check, latest } = createWorld(giver, ...others);
    await expect(check(giver)).rejects.toMatchObject({ kind: 'disagreement' });
    await expect(check(giver)).rejects.toMatchObject({ kind: 'disagreement' });
    expect(latest()).toEqual({ blockNumber: 5, state: 'disagreed' });
    // Each disagreement counts once.
    expect(giver.disagreements).toEqual([false]);
  });

  test('that most nodes have is accepted, and the others are outvoted', async () => {
    const [a, b, c] = [createNode('a', 'x'), createNode('b', 'y'), createNode('c', 'x')];
    const { check, latest } = createWorld(a, b, c);
    expect(await check(a)).toBe(true);
    expect(latest()?.state).toBe('outvoted');
    expect([a, b, c].map(({ disagreements }) => disagreements)).toEqual([[], [true], []]);
  });

  test('that most nodes do not have is rejected', async () => {
    const [a, b, c] = [createNode('a', 'x'), createNode('b', 'y'), createNode('c', 'y')];
    expect(await createWorld(a, b, c).check(a)).toBe(false);
    expect(a.disagreements).toEqual([true]);
  });

  test('is not decided by a node without a vote', async () => {
    const liar = createNode('a', 'x', false);
    const other = createNode('b', 'y');
    expect(await createWorld(liar, other).check(liar)).toBe(false);
    const giver = createNode('a', 'x');
    const voteless = createNode('b', 'y', false);
    expect(await createWorld(giver, voteless).check(giver)).toBe(true);
    expect(voteless.reads).toBe(0);
  });
});

describe('a block that no witness has', () => {
  test('is accepted at once below the head', async () => {
    const [a, b] = [createNode('a', 'x'), createNode('b', undefined)];
    expect(await createWorld(a, b).check(a, { isHead: false })).toBe(true);
    expect(b.reads).toBe(1);
  });

  test('is accepted at the head after the witness had time to receive it', async () => {
    const [a, b] = [createNode('a', 'x'), createNode('b', undefined)];
    const { check, latest } = createWorld(a, b);
    expect(await check(a)).toBe(true);
    expect(b.reads).toBeGreaterThan(3);
    expect(latest()?.state).toBe('alone');
  });
});

describe('a head that no witness has', () => {
  type Other = Pick<Node, 'head'> & Partial<Pick<Node, 'ownFrom'>>;
  /** Creates a node whose own branch starts at block `ownFrom`, and others without its head. */
  const createBranch = (ownFrom: number, others: readonly Other[]) => {
    const a = createNode('a', 'x');
    a.ownFrom = ownFrom;
    const rest = others.map((each, n) => Object.assign(createNode('bcd'[n]!, undefined), each));
    return { a, ...createWorld(a, ...rest) };
  };

  test.each([
    ['', 3, [{ head: 3 }, { head: 3 }]],
    [', although one is too far behind to have it', 3, [{ head: 3 }, { head: 3 }, { head: 1 }]],
    [', which is the head of the last one', 2, [{ head: 3 }, { head: 2 }]],
  ])('is rejected if most nodes have another block below it%s', async (_, ownFrom, others) => {
    const { a, check } = createBranch(ownFrom, others);
    expect(await check(a)).toBe(false);
    expect(a.disagreements).toEqual([true]);
  });

  test.each([
    ['the same block', 4, [{ head: 3 }, { head: 3 }]],
    ['different blocks, without a majority', 3, [{ head: 3 }]],
    ['the block of a witness', 3, [{ head: 3, ownFrom: 3 }, { head: 3 }]],
  ])('is accepted if the nodes have %s below it', async (_, ownFrom, others) => {
    const { a, check, latest } = createBranch(ownFrom, others);
    expect(await check(a)).toBe(true);
    expect(latest()?.state).toBe('alone');
    expect(a.disagreements).toEqual([]);
  });
});

describe('a block that was accepted', () => {
  test('is not checked again while it is the head', async () => {
    const [a, b] = [createNode('a', 'x'), createNode('b', 'x')];
    const { check } = createWorld(a, b);
    await check(a);
    await check(a);
    expect(b.reads).toBe(1);
  });

  test('below the head is checked again', async () => {
    const [a, b] = [createNode('a', 'x'), createNode('b', 'x')];
    const { check } = createWorld(a, b);
    await check(a, { isHead: false });
    await check(a, { isHead: false });
    expect(b.reads).toBe(2);
  });
});
