import { expect, test } from 'vitest';
import {
  hrefOf,
  isTyping,
  parseDeliveriesSearch,
  parseExplainSearch,
  parseKeyFragment,
  parseNewStreamSearch,
  parseSignInSearch,
  parseStreamSearch,
  parseStreamsSearch,
  toListFilter,
} from './search.ts';

const ID = '6ecf6082-2b6a-47f9-ae3c-0559da258841';

test('a delivery link keeps its filter, selection and tab', () => {
  const search = { state: 'failed', stream: ID, sel: ID, view: 'attempts' };
  expect(parseDeliveriesSearch(search)).toEqual(search);
});

test('a destination belongs to a stream', () => {
  const search = { stream: ID, destination: 2 };
  expect(parseDeliveriesSearch(search)).toEqual(search);
  expect(parseDeliveriesSearch({ destination: 2 })).toEqual({});
  expect(parseStreamSearch({ destination: 0 })).toEqual({ destination: 0 });
  expect(parseStreamSearch({ destination: -1 })).toEqual({});
  expect(toListFilter(search)).toEqual({ streamId: ID, destination: 2 });
});

test('invalid values are dropped', () => {
  expect(
    parseDeliveriesSearch({ state: 'lost', stream: 'x', sel: `${ID}'`, view: 1, more: true }),
  ).toEqual({});
  expect(parseStreamsSearch({ show: 'all', q: ['a'] })).toEqual({});
});

test('the metrics of a stream keep their period', () => {
  expect(parseStreamSearch({ tab: 'metrics', span: 'week' })).toEqual({
    tab: 'metrics',
    span: 'week',
  });
  expect(parseStreamSearch({ span: 'year' })).toEqual({});
});

test('clearing a filter takes its key out of the URL', () => {
  expect(Object.keys(parseDeliveriesSearch({ state: undefined, sel: ID }))).toEqual(['sel']);
});

test('a search for digits stays text', () => {
  expect(parseStreamsSearch({ q: 500 })).toEqual({ q: '500' });
  expect(parseStreamsSearch({ q: '  ' })).toEqual({});
  expect(parseDeliveriesSearch({ body: ' $.a = 1 ' })).toEqual({ body: '$.a = 1' });
  expect(parseDeliveriesSearch({ body: '$.a >' })).toEqual({});
  expect(parseStreamsSearch({ q: ' usdc ' })).toEqual({ q: 'usdc ' });
  expect(parseStreamSearch({ find: 'cold wallet ' })).toEqual({ find: 'cold wallet ' });
});

test('a query may be an explorer URL or a number with separators', () => {
  const hash = `0x${'ab'.repeat(32)}`;
  expect(parseExplainSearch({ q: `https://etherscan.io/tx/${hash}?a=1` })).toEqual({ q: hash });
  expect(parseExplainSearch({ q: '#23,835,250', chain: '0x1' })).toEqual({
    q: '23835250',
    chain: '0x1',
  });
  expect(parseExplainSearch({ q: 23_835_250 })).toEqual({ q: '23835250' });
  expect(parseExplainSearch({ q: ' hello ' })).toEqual({ q: 'hello' });
});

test('spaces within a search stay while it is typed', () => {
  for (const q of ['cold', 'cold ', 'cold w']) {
    expect(parseStreamsSearch({ q })).toEqual({ q });
    expect(parseStreamSearch({ find: q })).toEqual({ find: q });
  }
  expect(parseStreamsSearch({ q: ' cold' })).toEqual({ q: 'cold' });
  expect(isTyping('cold', 'cold ')).toBe(true);
  expect(isTyping(undefined, 'c')).toBe(false);
  expect(isTyping('c', '')).toBe(false);
});

test('sign-in only redirects within the console', () => {
  expect(parseSignInSearch({ back: '/deliveries?state=failed' })).toEqual({
    back: '/deliveries?state=failed',
  });
  for (const back of ['//evil.example', '/\\evil.example', 'https://evil.example', '', 7]) {
    expect(parseSignInSearch({ back })).toEqual({});
  }
});

test('sign-in redirects to the home page by default', () => {
  expect(hrefOf({})).toBe('/console/');
  expect(hrefOf({ back: '/deliveries?state=failed' })).toBe('/console/deliveries?state=failed');
});

test('the key of a link is in the fragment', () => {
  expect(parseKeyFragment('#key=sluice_a-b_c')).toBe('sluice_a-b_c');
  expect(parseKeyFragment('#key=a%2Bb')).toBe('a+b');
  expect(parseKeyFragment('#key=')).toBeNull();
  expect(parseKeyFragment('#content')).toBeNull();
  expect(parseKeyFragment('')).toBeNull();
});

test('a stream link keeps its tab and selection, but no other stream', () => {
  const search = { tab: 'deliveries', state: 'failed', sel: ID, view: 'response' };
  expect(parseStreamSearch({ ...search, stream: ID })).toEqual(search);
  expect(parseStreamSearch({ tab: 'pulse' })).toEqual({});
});

test('a link can prefill the form', () => {
  expect(parseNewStreamSearch({ address: ' 0x1 ', event: '', more: 1 })).toEqual({
    address: '0x1',
  });
});

test('the start of a list is a valid time', () => {
  expect(parseDeliveriesSearch({ until: 1_795_000_000_000 }).until).toBe(1_795_000_000_000);
  for (const until of [-1, 1.5, 9e15, '2026', null]) {
    expect(parseDeliveriesSearch({ until })).toEqual({});
  }
});
