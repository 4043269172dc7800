import { globSync, readFileSync } from 'node:fs';
import type { LiveEvent } from '@sluice/kit/sluice';
import { QueryClient, type QueryKey } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { REFRESHES } from './refreshes.ts';

const SOURCE = new URL('../../', import.meta.url);

const TEXTS = globSync('**/*.{ts,tsx}', { cwd: SOURCE, exclude: ['**/*.test.ts'] }).map((file) =>
  readFileSync(new URL(file, SOURCE), 'utf8'),
);

/** Returns the options of the queries whose key starts with this name, as source text. */
const definitionsOf = (name: string): string[] =>
  TEXTS.flatMap((text) =>
    text
      .split(/(?=queryKey: )/)
      .filter((part) => new RegExp(`^queryKey: (\\['${name}'|queryKeys\\.${name},)`).test(part))
      .map((part) => part.replace(/\n *\}\);.*/s, '')),
  ).filter((part) => part.includes('queryFn'));

/** Returns the first elements of all query keys in the source of the console. */
function keyNames(): string[] {
  const literal = TEXTS.flatMap((text) => [...text.matchAll(/queryKey: \['([^']+)'/g)]);
  const service = readFileSync(new URL('data/queries/service.ts', SOURCE), 'utf8');
  const declared = [...service.matchAll(/^ {2}\w+: (?:\(id: string\) => )?\['(\w+)'/gm)];
  return [...new Set([...literal, ...declared].map(([, name = '']) => name))].toSorted();
}

const ID = '0199a000-0000-7000-8000-000000000001';
const EVENTS = {
  delivery: {
    type: 'delivery',
    delivery: { id: ID, streamId: ID, matchId: ID, attempts: 0, createdAt: 0, updatedAt: 0 },
  },
  block: {
    type: 'block',
    chainId: '0x1',
    block: { number: 2, hash: '0x2', timestamp: 1, matches: 0 },
    head: 2,
  },
  reorg: { type: 'reorg', chainId: '0x1', blockNumber: 0 },
  chain: { type: 'chain', chain: { id: '0x1', state: 'down', message: 'away' } },
  stream: { type: 'stream', streamId: ID },
  job: { type: 'job', job: { id: ID, streamId: ID, updatedAt: 2 } },
  inbox: { type: 'inbox', request: { id: ID } },
  replay: { type: 'replay', replay: { id: ID, state: 'running', updatedAt: 2 } },
  reset: { type: 'reset' },
} as unknown as Record<LiveEvent['type'], LiveEvent>;

/** A cached value for each query whose data an event changes in place, and its complete key. */
const CACHED: Record<string, { key?: QueryKey; data: unknown }> = {
  chains: {
    data: [
      {
        id: '0x1',
        state: 'live',
        message: '',
        removed: [],
        checkpoint: null,
        head: 1,
        blocks: [{ number: 1, hash: '0x1', timestamp: 0, matches: 0 }],
      },
    ],
  },
  deliveries: {
    key: ['deliveries', {}],
    data: { pages: [{ result: [] }], pageParams: [undefined] },
  },
  jobs: { key: ['jobs', ID], data: [] },
  replays: { data: [] },
  replay: { key: ['replay', ID], data: { id: ID, state: 'running', updatedAt: 1 } },
  streams: { data: [] },
};

let applyEvents: typeof import('./live.ts').applyEvents;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.stubGlobal('location', { origin: 'http://localhost' });
  ({ applyEvents } = await import('./live.ts'));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('every query key has an event, or another way to stay current', () => {
  expect(keyNames().length).toBeGreaterThan(30);
  expect(Object.keys(REFRESHES).toSorted()).toEqual(keyNames());
});

test.each(
  Object.entries(REFRESHES).flatMap(([name, types]) =>
    [...(typeof types === 'string' ? [] : types), 'reset' as const].map(
      (type) => [name, type] as const,
    ),
  ),
)('%s is refreshed by the event %s', async (name, type) => {
  const queryClient = new QueryClient();
  const { key = [name, ID], data = [] } = CACHED[name] ?? {};
  const queryKey = CACHED[name] !== undefined && CACHED[name].key === undefined ? [name] : key;
  queryClient.setQueryData(queryKey, data);
  const before = queryClient.getQueryData(queryKey);
  applyEvents(queryClient, [EVENTS[type]]);
  // The intervals between reloads continue from one test to the next, but the clock does not.
  await vi.advanceTimersByTimeAsync(60_000);
  const isInvalidated = queryClient.getQueryState(queryKey)?.isInvalidated;
  const isChanged = queryClient.getQueryData(queryKey) !== before;
  expect({ isRefreshed: isInvalidated || isChanged }).toEqual({ isRefreshed: true });
});

const OPTIONS = {
  polled: /refetchInterval: (SUMMARY_)?REFRESH_MS/,
  shown: /staleTime: 0|gcTime: 0/,
  constant: /^(?!.*(refetchInterval|staleTime: 0))/s,
};

test.each(
  Object.entries(REFRESHES).flatMap(([name, way]) =>
    typeof way === 'string' ? [[name, way] as const] : [],
  ),
)('%s is %s', (name, way) => {
  const definitions = definitionsOf(name);
  expect(definitions).not.toEqual([]);
  for (const definition of definitions) expect(definition).toMatch(OPTIONS[way]);
});

test('the coverage of a stream is refreshed after its backfill, and that of another is not', async () => {
  const queryClient = new QueryClient();
  queryClient.setQueryData(['coverage', ID], []);
  queryClient.setQueryData(['coverage', 'other'], []);
  applyEvents(queryClient, [EVENTS.job]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(queryClient.getQueryState(['coverage', ID])?.isInvalidated).toBe(true);
  expect(queryClient.getQueryState(['coverage', 'other'])?.isInvalidated).toBe(false);
});
