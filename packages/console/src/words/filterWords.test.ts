import { expect, test } from 'vitest';
import { describeFilter, nameFilter } from './filterWords.ts';
import { formatDateTime } from '../ui/text/format.ts';

const NAMES = {
  ofStream: (id: string) => (id === 's' ? 'deposits' : id),
  ofChain: (id: string) => (id === '0x1' ? 'Ethereum' : id),
  ofReplay: () => '“the outage”',
};
const say = (filter: Parameters<typeof describeFilter>[0]): string => describeFilter(filter, NAMES);

test('a selection reads as a sentence', () => {
  expect(say({ streamId: 's', state: 'failed', status: ['5xx', '404'] })).toBe(
    'failed deliveries of deposits, answered 5xx or 404',
  );
  expect(say({ chainId: '0x1', status: 'none', phase: 'confirmed' })).toBe(
    'confirmed deliveries on Ethereum, that nobody answered',
  );
  expect(say({ status: ['5xx', 'none'] })).toBe('deliveries, answered 5xx, or not answered at all');
  expect(say({ id: ['a', 'b'] })).toBe('2 deliveries chosen one by one');
  expect(say({ id: 'a', state: 'failed' })).toBe('1 failed delivery chosen one by one');
  expect(say({ replayId: 'r', state: ['failed', 'quarantined'] })).toBe(
    'failed or quarantined deliveries, sent again by “the outage”',
  );
});

test('ranges have one end or two', () => {
  expect(say({ blockFrom: 1_000, blockTo: 2_000 })).toBe('deliveries, of block 1,000 to 2,000');
  expect(say({ blockFrom: 7, blockTo: 7, reorged: true })).toBe(
    'deliveries, of block 7, whose block left the chain',
  );
  expect(say({ createdFrom: 1_000 })).toBe(`deliveries, made since ${formatDateTime(1_000)}`);
  expect(say({ createdTo: 1_000, error: 'ECONN' })).toBe(
    `deliveries, with “ECONN” in the error, made until ${formatDateTime(1_000)}`,
  );
  expect(say({ attemptsFrom: 5 })).toBe('deliveries, tried 5 times or more');
  expect(say({ attemptsFrom: 1, attemptsTo: 1 })).toBe('deliveries, tried 1 time');
  expect(say({ attemptsFrom: 1, attemptsTo: 3 })).toBe('deliveries, tried 1 to 3 times');
});

test('its name is what sets it apart', () => {
  expect(nameFilter({ state: ['failed', 'quarantined'], streamId: 's' }, NAMES.ofStream)).toBe(
    'failed quarantined deposits',
  );
});
