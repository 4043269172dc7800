import { expect, test } from 'vitest';
import { type BlockFacts, toBlockStages } from './explainVerdict.ts';

const FACTS: BlockFacts = {
  chain: '0x1',
  number: 10,
  timestamp: undefined,
  records: new Map(),
  checkpoint: 10,
  isReplaced: false,
  halt: undefined,
  unverified: [],
};
const providers = [{ head: 9 }, { head: 10 }, { head: null }] as never;

const stagesOf = (facts: Partial<BlockFacts>, trouble?: string) =>
  toBlockStages({ ...FACTS, ...facts }, { providers }, trouble).map(
    ({ stage, outcome, message }) => `${stage} ${outcome}: ${message}`,
  );

test('a block is seen, fetched by the nodes that reached it, and committed', () => {
  expect(stagesOf({})).toEqual([
    'seen passed: the nodes of 0x1 have the block',
    'fetched passed: 1 of 3 nodes have reached block 10',
    'committed passed: committed up to block 10',
  ]);
});

test.each([
  { facts: { number: 11 }, last: 'committed waiting: committed up to block 10' },
  { facts: { checkpoint: null }, last: 'committed waiting: nothing is committed yet' },
  {
    facts: { isReplaced: true },
    last: 'committed stopped: another block replaced this one',
  },
  {
    facts: { halt: 'block 0 differs', isReplaced: true },
    last: 'committed stopped: the chain is halted: block 0 differs',
  },
])('a block that is not committed has the reason: $last', ({ facts, last }) => {
  expect(stagesOf(facts).at(-1)).toBe(last);
});

test('a block that no node has is unknown, with the problem', () => {
  const facts = { number: undefined, records: undefined };
  expect(stagesOf(facts)).toEqual(['seen unknown: no node has the block']);
  expect(stagesOf(facts, 'the node is away')).toEqual(['seen unknown: the node is away']);
  expect(toBlockStages({ ...FACTS, ...facts }, undefined, undefined)).toMatchObject([
    { message: '0x1 is not read' },
  ]);
});
