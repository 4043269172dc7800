import { keccak256 } from '@sluice/kit/contract';
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
    expect(planLogs('0x2', [{ topics, lastTopic: 2, addresses: [watched!] }])).toEqual([
      [
        { address: [watched], topics: [topics] },
        { topics: [topics, [inTopic(watched!)]] },
        { topics: [topics, null, [inTopic(watched!)]] },
      ],
      [{ topics: [topics] }],
    ]);
  });

  test('finds transfers without indexed parameters by their contract, where there are some', () => {
    const addresses = [`0x${'1'.repeat(40)}`];
    const filtersOf = (chain: string, topics: string[]) =>
      planLogs(chain, [{ topics, lastTopic: 0, addresses }])?.[0]?.slice(1);
    const events = ['Transfer', 'Approval'].map((name) =>
      keccak256(`${name}(address,address,uint256)`),
    );
    const address = ['0x06012c8cf97bead5deae237070f9587f8e7a266d'];
    expect(filtersOf('0x1', [])).toEqual([{ address, topics: [events] }]);
    expect(filtersOf('0x1', [EVENTS[0]!, events[0]!])).toEqual([
      { address, topics: [[events[0]]] },
    ]);
    expect(filtersOf('0x1', [EVENTS[0]!])).toEqual([]);
    expect(filtersOf('0x2', [])).toEqual([]);
  });

  test('splits long lists', () => {
    const [byAddress] = planLogs('0x2', [
      { topics: [], lastTopic: 0, addresses: addresses(1_200) },
    ])!;
    expect(byAddress!.map(({ address }) => address?.length)).toEqual([500, 500, 200]);
  });

  test('has only the event for lists that are too long, and for all addresses', () => {
    const topics = [EVENTS[0]!];
    for (const listed of ['many', 'any'] as const) {
      const plans = planLogs('0x2', [{ topics, lastTopic: 3, addresses: listed }]);
      expect(plans).toEqual([[{ topics: [topics] }]]);
    }
  });

  test('adds the events of streams without addresses to those of others', () => {
    const [watched] = addresses(1);
    const plans = planLogs('0x2', [
      { topics: [EVENTS[0]!], lastTopic: 0, addresses: [watched!] },
      { topics: [EVENTS[1]!], lastTopic: 3, addresses: 'any' },
    ]);
    expect(plans).toEqual([
      [{ address: [watched], topics: [[EVENTS[0]]] }, { topics: [[EVENTS[1]]] }],
      [{ topics: [EVENTS] }],
    ]);
  });

  test('does not exist where every log would be found', () => {
    expect(planLogs('0x2', [{ topics: [], lastTopic: 3, addresses: 'any' }])).toBeUndefined();
    expect(planLogs('0x2', [{ topics: [], lastTopic: 3, addresses: 'many' }])).toBeUndefined();
    expect(planLogs('0x2', [])).toEqual([[]]);
  });
});
