import { expect, test } from 'vitest';
import { describeFilter, nameFilter } from './filterWords.ts';
import { formatDateTime } from '../ui/text/format.ts';

const NAMES = {
  ofStream: (id: string) => (id === 's' ? 'deposits' : id),
  ofChain: (id: string) => (id === '0x1' ? 'Ethereum' : id),
  ofReplay: () => '“the outage”',
};
const say = (filter: Parameters<typeof describeFilter>[0]): string => describeFilter(filter, NAMES);

test('each condition of a selection has a label', () => {
  expect(say({})).toBe('All deliveries');
  expect(say({ streamId: 's', state: 'failed', status: ['5xx', '404'] })).toBe(
    'State: failed · Stream: deposits · Response: 5xx, 404',
  );
  expect(say({ chainId: '0x1', status: 'none', phase: 'confirmed' })).toBe(
    'Phase: confirmed · Chain: Ethereum · Response: none',
  );
  expect(say({ receiver: 'api.example' })).toBe('Receiver: api.example');
  expect(say({ streamId: 's', destination: 0 })).toBe('Stream: deposits · Destination: 0');
  expect(say({ id: ['a', 'b'], state: 'failed' })).toBe('Selected: 2 · State: failed');
  expect(say({ replayId: 'r', state: ['failed', 'quarantined'] })).toBe(
    'State: failed, quarantined · Replay: “the outage”',
  );
});

test('ranges have one end or two', () => {
  expect(say({ blockFrom: 1_000, blockTo: 2_000 })).toBe('Block: 1,000 to 2,000');
  expect(say({ blockFrom: 7, blockTo: 7, reorged: true })).toBe('Block: 7 · Block removed: yes');
  expect(say({ createdFrom: 1_000 })).toBe(`Created: ≥ ${formatDateTime(1_000)}`);
  expect(say({ createdTo: 1_000, error: 'ECONN' })).toBe(
    `Error: “ECONN” · Created: ≤ ${formatDateTime(1_000)}`,
  );
  expect(say({ attemptsFrom: 5 })).toBe('Attempts: ≥ 5');
  expect(say({ attemptsFrom: 1, attemptsTo: 3 })).toBe('Attempts: 1 to 3');
});

test('the name of a replay lists its main conditions', () => {
  expect(nameFilter({ state: ['failed', 'quarantined'], streamId: 's' }, NAMES.ofStream)).toBe(
    'failed quarantined deposits',
  );
});
