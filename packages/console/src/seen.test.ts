import type { SeenEvent } from '@sluice/kit/sluice';
import { KNOWN_EVENTS, keccak256 } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { NEW_DRAFT, withRule } from './draft.ts';
import {
  countEach,
  countSeen,
  noneSeen,
  offeredOf,
  settleSeen,
  withSeen,
  withSeenEvent,
  type Seen,
  type SeenTotal,
} from './seen.ts';

const TRANSFER = 'Transfer(address,address,uint256)';
const TOPIC = keccak256(TRANSFER);
const UNKNOWN = `0x${'17'.repeat(32)}`;

const event = (topic0: string, count: number, indexed = 2): SeenEvent => ({
  ...{ topic0, signature: KNOWN_EVENTS[topic0] ?? null, indexed, count },
});
/** Block by block, from number 1 on. */
const seenOf = (...blocks: SeenEvent[][]): Seen =>
  blocks.reduce((seen, found, n) => withSeen(seen, 'here', n + 1, found), noneSeen('here'));
function onlyOf(seen: Seen): SeenTotal {
  const [total, ...more] = countSeen(seen);
  if (total === undefined || more.length > 0) throw new Error('Not one event');
  return total;
}
const orderOf = (seen: Seen) => countSeen(seen).map(({ topic0, count }) => `${topic0} ${count}`);

test('what was seen is added up; a block that is asked again counts once', () => {
  const seen = seenOf([event('a', 2)], [event('a', 1), event('b', 1)]);
  expect(orderOf(seen)).toEqual(['a 3', 'b 1']);
  expect(orderOf(withSeen(seen, 'here', 2, [event('b', 4)]))).toEqual(['a 2', 'b 4']);
});

test('of other addresses it begins anew', () => {
  expect(orderOf(withSeen(seenOf([event('a', 2)]), 'elsewhere', 9, [event('b', 1)]))).toEqual([
    'b 1',
  ]);
});

test('the order changes at the end of the first run, and when more is asked for; in no other moment', () => {
  const first = seenOf([event('a', 1)], [event('b', 3)]);
  expect(orderOf(first)).toEqual(['a 1', 'b 3']);
  const settled = settleSeen(first, { anew: false });
  expect(orderOf(settled)).toEqual(['b 3', 'a 1']);
  const again = withSeen(settled, 'here', 3, [event('a', 9), event('c', 20)]);
  expect(orderOf(again)).toEqual(['b 3', 'a 10', 'c 20']);
  expect(orderOf(settleSeen(again, { anew: false }))).toEqual(['b 3', 'a 10', 'c 20']);
  expect(orderOf(settleSeen(again, { anew: true }))).toEqual(['c 20', 'a 10', 'b 3']);
});

test('what stands in the form, by signature or by hash, is not offered once more', () => {
  const totals = countSeen(seenOf([event(TOPIC, 2), event(UNKNOWN, 1), event('c', 1)]));
  expect(offeredOf(totals, [TRANSFER, UNKNOWN]).map(({ topic0 }) => topic0)).toEqual(['c']);
});

test('each event of the token standards is added with its ABI, of the standard that was seen', () => {
  for (const [topic0, signature] of Object.entries(KNOWN_EVENTS)) {
    const shapes = /^(Transfer|Approval)\(/.test(signature)
      ? [2, 3]
      : [signature.startsWith('ApprovalForAll') ? 2 : 3];
    for (const indexed of shapes) {
      const total = onlyOf(seenOf([event(topic0, 1, indexed)]));
      const { abi, rules } = withSeenEvent(NEW_DRAFT, total);
      expect(rules).toMatchObject([{ signature }]);
      expect(abi[0]?.inputs?.filter((input) => input.indexed)).toHaveLength(indexed);
    }
  }
});

test('of both standards it is added without an ABI, which would leave one of them out', () => {
  const seen = seenOf([event(TOPIC, 5, 2), event(TOPIC, 2, 3)]);
  const total = onlyOf(seen);
  expect(total).toMatchObject({ signature: TRANSFER, count: 7 });
  const draft = withSeenEvent(NEW_DRAFT, total);
  expect(draft).toEqual(withRule(NEW_DRAFT, TRANSFER));
  expect(countEach([total], draft.abi, [TRANSFER]).get(TRANSFER)).toBe(7);
  // The ABI of one takes that one.
  const erc20 = onlyOf(seenOf([event(TOPIC, 5, 2)]));
  const { abi } = withSeenEvent(NEW_DRAFT, erc20);
  expect(countEach([total], abi, [TRANSFER]).get(TRANSFER)).toBe(5);
  expect(
    countEach([total], abi, ['Approval(address,address,uint256)']).get(
      'Approval(address,address,uint256)',
    ),
  ).toBe(0);
});

test('what nobody names is added by its hash', () => {
  const total = onlyOf(seenOf([event(UNKNOWN, 1)]));
  expect(total.signature).toBeNull();
  expect(withSeenEvent(NEW_DRAFT, total)).toEqual(withRule(NEW_DRAFT, UNKNOWN));
});

test('an event that many watch is named, though no token standard has it', () => {
  const swap = keccak256('Swap(address,address,int256,int256,uint160,uint128,int24)');
  expect(countSeen(seenOf([event(swap, 1)]))).toMatchObject([
    { signature: 'Swap(address,address,int256,int256,uint160,uint128,int24)' },
  ]);
});
