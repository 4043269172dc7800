import type { ObservedEvent } from '@sluice/kit/sluice';
import { KNOWN_EVENTS, keccak256 } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { withRule } from '../draft.ts';
import { NEW_DRAFT } from '../../../routes/streamForm/draft/draft.ts';
import {
  emptyObserved,
  withObserved,
  type Observed,
} from '../../../routes/streamForm/dryRun/observed.ts';
import {
  countEach,
  countObserved,
  listOffered,
  withObservedEvent,
  type ObservedTotal,
} from './observedEvents.ts';

const TRANSFER = 'Transfer(address,address,uint256)';
const TOPIC = keccak256(TRANSFER);
const UNKNOWN = `0x${'17'.repeat(32)}`;

const event = (topic0: string, count: number, indexed = 2): ObservedEvent => ({
  topic0,
  signature: KNOWN_EVENTS[topic0] ?? null,
  indexed,
  count,
});
/** Returns the observations of blocks with these events, starting at block 1. */
const observedOf = (...blocks: ObservedEvent[][]): Observed =>
  blocks.reduce(
    (observed, found, n) => withObserved(observed, 'here', n + 1, found),
    emptyObserved('here'),
  );
function onlyOf(observed: Observed): ObservedTotal {
  const [total, ...more] = countObserved(observed);
  if (total === undefined || more.length > 0) throw new Error('Expected one event');
  return total;
}

test('events of the form, by signature or hash, are not offered again', () => {
  const totals = countObserved(observedOf([event(TOPIC, 2), event(UNKNOWN, 1), event('c', 1)]));
  expect(listOffered(totals, [TRANSFER, UNKNOWN]).map(({ topic0 }) => topic0)).toEqual(['c']);
});

/** Events without a template, which are added by signature alone. */
const WITHOUT_TEMPLATE = /^(ConsecutiveTransfer|Transfer\(address,address,address)/;

test('each event of the token standards is added with the ABI of the observed standard', () => {
  for (const [topic0, signature] of Object.entries(KNOWN_EVENTS)) {
    const shapes = /^(Transfer|Approval)\(address,address,uint256\)/.test(signature)
      ? [2, 3]
      : [signature.startsWith('ApprovalForAll') ? 2 : 3];
    for (const indexed of shapes) {
      const total = onlyOf(observedOf([event(topic0, 1, indexed)]));
      const { abi, rules } = withObservedEvent(NEW_DRAFT, total);
      expect(rules).toMatchObject([{ signature }]);
      if (WITHOUT_TEMPLATE.test(signature)) expect(abi).toEqual([]);
      else expect(abi[0]?.inputs?.filter((input) => input.indexed)).toHaveLength(indexed);
    }
  }
});

test('an event of both standards is added without an ABI, which would exclude one', () => {
  const observed = observedOf([event(TOPIC, 5, 2), event(TOPIC, 2, 3)]);
  const total = onlyOf(observed);
  expect(total).toMatchObject({ signature: TRANSFER, count: 7 });
  const draft = withObservedEvent(NEW_DRAFT, total);
  expect(draft).toEqual(withRule(NEW_DRAFT, TRANSFER));
  expect(countEach([total], draft.abi, [TRANSFER]).get(TRANSFER)).toBe(7);
  // An ABI matches only events of its own standard.
  const erc20 = onlyOf(observedOf([event(TOPIC, 5, 2)]));
  const { abi } = withObservedEvent(NEW_DRAFT, erc20);
  expect(countEach([total], abi, [TRANSFER]).get(TRANSFER)).toBe(5);
  expect(
    countEach([total], abi, ['Approval(address,address,uint256)']).get(
      'Approval(address,address,uint256)',
    ),
  ).toBe(0);
});

test('an unknown event is added by its hash', () => {
  const total = onlyOf(observedOf([event(UNKNOWN, 1)]));
  expect(total.signature).toBeNull();
  expect(withObservedEvent(NEW_DRAFT, total)).toEqual(withRule(NEW_DRAFT, UNKNOWN));
});

test('a common event has a name, although no token standard has it', () => {
  const swap = keccak256('Swap(address,address,int256,int256,uint160,uint128,int24)');
  expect(countObserved(observedOf([event(swap, 1)]))).toMatchObject([
    { signature: 'Swap(address,address,int256,int256,uint160,uint128,int24)' },
  ]);
});
