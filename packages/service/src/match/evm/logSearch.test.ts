import { describe, expect, test } from 'vitest';
import { planLogs } from './logSearch.ts';

const EVENTS = ['0a', '0b'].map((byte) => `0x${byte.repeat(32)}`);
const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`);
const inTopic = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`;

describe('a plan of queries', () => {
  test('finds addresses as emitter and in topics, or the event alone', () => {
    const [watched] = addresses(1);
    const topics = [EVENTS[0]!];
    expect(planLogs([{ topics, lastTopic: 2, addresses: [watched!] }])).toEqual([
      [
        { address: [watched], topics: [topics] },
        { topics: [topics, [inTopic(watched!)]] },
        { topics: [topics, null, [inTopic(watched!)]] },
      ],
      [{ topics: [topics] }],
    ]);
  });

  test('splits long lists', () => {
    const [byAddress] = planLogs([{ topics: [], lastTopic: 0, addresses: addresses(1_200) }])!;
    expect(byAddress!.map(({ address }) => address?.length)).toEqual([500, 500, 200]);
  });

  test('has only the event for lists that are too long, and for all addresses', () => {
    const topics = [EVENTS[0]!];
    for (const listed of ['many', 'any'] as const) {
      const plans = planLogs([{ topics, lastTopic: 3, addresses: listed }]);
      expect(plans).toEqual([[{ topics: [topics] }]]);
    }
  });

  test('adds the events of streams without addresses to those of others', () => {
    const [watched] = addresses(1);
    const plans = planLogs([
      { topics: [EVENTS[0]!], lastTopic: 0, addresses: [watched!] },
      { topics: [EVENTS[1]!], lastTopic: 3, addresses: 'any' },
    ]);
    expect(plans).toEqual([
      [{ address: [watched], topics: [[EVENTS[0]]] }, { topics: [[EVENTS[1]]] }],
      [{ topics: [EVENTS] }],
    ]);
  });

  test('does not exist where every log would be found', () => {
    expect(planLogs([{ topics: [], lastTopic: 3, addresses: 'any' }])).toBeUndefined();
    expect(planLogs([{ topics: [], lastTopic: 3, addresses: 'many' }])).toBeUndefined();
    expect(planLogs([])).toEqual([[]]);
  });
});
