/** Tests which headers are rejected, by whether they match their hashes. */
import type { ChainTrust } from '@sluice/kit/contract';
import { describe, expect, test } from 'vitest';
import type { HeaderProof } from './headerLayout.ts';
import { createHeaderRules } from './headerRules.ts';
import { createLearnedFacts } from './learned.ts';

const PASSED: HeaderProof = { result: 'passed', encoded: Buffer.alloc(0) };
const FAILED: HeaderProof = { result: 'failed' };
const UNKNOWN: HeaderProof = { result: 'not-applicable', reason: 'unknown header fields x' };
const NO_RULES: HeaderProof = {
  result: 'not-applicable',
  reason: 'the rules of the header are not known',
};

function createWorld({
  trust = 'evidence',
  isStandard = false,
}: { trust?: ChainTrust; isStandard?: boolean } = {}) {
  let proof = PASSED;
  const rules = createHeaderRules({
    trust,
    network: { isStandard },
    learned: createLearnedFacts(),
    prover: { check: () => proof, prove: async () => proof },
  });
  return {
    takesPushed(next: HeaderProof) {
      proof = next;
      return rules.takesPushed({});
    },
    check(next: HeaderProof, { node = 'a', isAlone = false, number = 5, hash = '0x5' } = {}) {
      proof = next;
      const header = { number, hash, parentHash: '0x4', timestamp: 1 };
      return rules.check({}, header, { node, isAlone });
    },
  };
}
const rejected = { kind: 'inconsistent' };

describe('a header that does not match its hash', () => {
  test.each([
    ['a chain of standard rules', { isStandard: true }],
    ['a chain with trust=strict', { trust: 'strict' as const }],
  ])('is rejected on %s, also from the only node', async (_, world) => {
    const { check } = createWorld(world);
    await expect(check(FAILED, { isAlone: true })).rejects.toMatchObject(rejected);
    // Two nodes that return it change nothing.
    await expect(check(FAILED, { node: 'b' })).rejects.toMatchObject(rejected);
  });

  test('is not understood on a chain whose headers have not matched', async () => {
    const { check } = createWorld();
    expect(await check(FAILED)).toEqual(NO_RULES);
  });

  test('is rejected if others matched, unless no other node can be queried', async () => {
    const { check } = createWorld();
    await check(PASSED);
    await expect(check(FAILED)).rejects.toMatchObject(rejected);
    await expect(check(FAILED)).rejects.toMatchObject(rejected);
    expect(await check(FAILED, { isAlone: true })).toEqual(FAILED);
  });

  test('shows that the rules changed if two nodes return it for one block', async () => {
    const { check } = createWorld();
    await check(PASSED);
    await expect(check(FAILED, { node: 'a' })).rejects.toMatchObject(rejected);
    await expect(check(FAILED, { node: 'b', hash: '0x6' })).rejects.toMatchObject(rejected);
    expect(await check(FAILED, { node: 'b' })).toEqual(NO_RULES);
    expect(await check(FAILED, { node: 'a' })).toEqual(NO_RULES);
  });

  test('is accepted for block 0, which may have other rules', async () => {
    const { check } = createWorld({ isStandard: true });
    expect(await check(FAILED, { number: 0 })).toEqual(FAILED);
  });

  test('is not checked with trust=node', async () => {
    expect(await createWorld({ trust: 'node' }).check(FAILED)).toBeUndefined();
  });
});

test('a header with unknown fields is accepted with the reason', async () => {
  for (const isStandard of [false, true]) {
    expect(await createWorld({ isStandard }).check(UNKNOWN)).toEqual(UNKNOWN);
  }
});

test('a pushed header must match its hash only where a failed check rejects a block', () => {
  const strict = createWorld({ isStandard: true });
  const other = createWorld();
  expect([PASSED, UNKNOWN, FAILED].map(strict.takesPushed)).toEqual([true, false, false]);
  expect([PASSED, UNKNOWN, FAILED].map(other.takesPushed)).toEqual([true, true, true]);
});
