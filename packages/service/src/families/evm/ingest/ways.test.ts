import { expect, test } from 'vitest';
import { SourceError, type SourceErrorKind } from '../../../ingest/source.ts';
import { createWays } from './ways.ts';

const HOUR = 3_600_000;

/** Creates a node whose ways give these results; an error kind fails. */
function createWorld() {
  let nowMs = 0;
  const ways = createWays<object>(() => nowMs);
  const node = {};
  const asked: string[] = [];
  const ask = (results: Record<string, string | Error>, isGood?: (answer: string) => boolean) => {
    asked.length = 0;
    const all = Object.entries(results).map(([name, result]) => ({
      name,
      ask: () => {
        asked.push(name);
        return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
      },
    }));
    return ways.ask(node, 'question', all, isGood);
  };
  return { ask, asked, pass: (ms: number) => (nowMs += ms) };
}

const fails = (kind: SourceErrorKind, rpcCode?: number) =>
  new SourceError(kind, kind, rpcCode === undefined ? {} : { rpcCode });

test('a refused way is followed by the next one, and tried again after an hour', async () => {
  const { ask, asked, pass } = createWorld();
  const results = { first: fails('refused'), second: 'data' };
  expect(await ask(results)).toBe('data');
  expect(asked).toEqual(['first', 'second']);
  expect(await ask(results)).toBe('data');
  expect(asked).toEqual(['second']);
  pass(HOUR);
  expect(await ask({ first: 'again', second: 'data' })).toBe('again');
});

test('a way that worked is retired only after three refusals in a row', async () => {
  const { ask, asked } = createWorld();
  const results = { first: fails('refused'), second: 'data' };
  await ask({ first: 'works' });
  await ask(results);
  await ask(results);
  await ask({ first: 'works' });
  for (let n = 0; n < 3; n++) {
    await ask(results);
    expect(asked).toEqual(['first', 'second']);
  }
  await ask(results);
  expect(asked).toEqual(['second']);
});

test.each([
  ['missing', undefined],
  ['too-large', undefined],
  ['inconsistent', undefined],
  ['refused', -32603],
] as const)('a temporary error retires no way: %s %s', async (kind, code) => {
  const { ask, asked } = createWorld();
  for (let n = 0; n < 5; n++) {
    expect(await ask({ first: fails(kind, code), second: 'data' })).toBe('data');
    expect(asked).toEqual(['first', 'second']);
  }
});

test.each(['rate-limited', 'unreachable'] as const)(
  'an error of kind %s ends the question',
  async (kind) => {
    const { ask, asked } = createWorld();
    await expect(ask({ first: fails(kind), second: 'data' })).rejects.toMatchObject({ kind });
    expect(asked).toEqual(['first']);
  },
);

test('a way that is always rate limited gives way to the next one', async () => {
  const { ask, asked } = createWorld();
  const results = { first: fails('rate-limited'), second: 'data' };
  for (let n = 0; n < 3; n++)
    await expect(ask(results)).rejects.toMatchObject({ kind: 'rate-limited' });
  expect(await ask(results)).toBe('data');
  expect(asked).toEqual(['second']);
});

test('a way that worked is not retired by rate limits', async () => {
  const { ask, asked } = createWorld();
  await ask({ first: 'works' });
  const results = { first: fails('rate-limited'), second: 'data' };
  for (let n = 0; n < 5; n++)
    await expect(ask(results)).rejects.toMatchObject({ kind: 'rate-limited' });
  expect(asked).toEqual(['first']);
});

test('an answer that is not good is used only if no way gives a better one', async () => {
  const { ask, asked } = createWorld();
  const isGood = (answer: string) => answer === 'good';
  expect(await ask({ first: 'bad', second: 'good', third: 'good' }, isGood)).toBe('good');
  expect(asked).toEqual(['first', 'second']);
  expect(await ask({ first: 'bad', second: 'worse' }, isGood)).toBe('worse');
  expect(await ask({ first: 'bad', second: fails('refused') }, isGood)).toBe('bad');
  const limited = { first: 'bad', second: fails('rate-limited'), third: fails('unreachable') };
  expect(await ask(limited, isGood)).toBe('bad');
  expect(asked).toEqual(['first', 'second', 'third']);
});

test('if all ways are refused, they are all tried, and the first error is reported', async () => {
  const { ask, asked } = createWorld();
  const results = { first: fails('unsupported'), second: fails('refused') };
  for (let n = 0; n < 2; n++) {
    await expect(ask(results)).rejects.toMatchObject({ kind: 'unsupported' });
    expect(asked).toEqual(['first', 'second']);
  }
});
