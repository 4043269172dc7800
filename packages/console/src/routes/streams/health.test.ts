import type { DeliverySummary, StreamSummary } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import type { WatchedChain } from '../../chains/timeline.ts';
import type { FleetStream } from '../../data/fleet.ts';
import { describeHealth, toIncidents } from './health.ts';

const chain = (changes: Partial<WatchedChain> = {}): WatchedChain =>
  ({
    id: '0x1',
    name: 'Ethereum',
    state: 'live',
    message: '',
    blocks: [],
    ...changes,
  }) as WatchedChain;

const row = (
  changes: Partial<Omit<FleetStream, 'stream'>> = {},
  stream: Partial<StreamSummary> = {},
): FleetStream => ({
  stream: {
    id: 'a',
    tag: 'a',
    webhookUrl: 'https://api.acme.io/hooks',
    queue: 0,
    failingSince: null,
    ...stream,
  } as StreamSummary,
  condition: { shape: 'disc', word: 'active', tone: 'ok' },
  isFailing: false,
  down: [],
  latest: undefined,
  ...changes,
});

const failed = (status: number | null, updatedAt: number): DeliverySummary =>
  ({ id: `d${updatedAt}`, status, updatedAt, error: 'it failed' }) as DeliverySummary;

test('a sentence says whether all is well', () => {
  expect(describeHealth([row()], [chain()])).toEqual({
    shape: 'disc',
    tone: 'ok',
    word: 'All is well: no stream failing, nothing waiting, chains current',
  });
  const failing = row({ isFailing: true }, { queue: 2_632 });
  expect(describeHealth([failing, row(), row()], [chain()])).toMatchObject({
    tone: 'bad',
    word: '1 of 3 streams failing, 2,632 waiting, chains current',
  });
  const late = [chain(), chain({ state: 'catching-up' })];
  expect(describeHealth([row()], late)).toMatchObject({
    tone: 'warn',
    word: 'No stream failing, nothing waiting, 1 of 2 chains not current',
  });
  const down = [chain({ state: 'down' }), chain({ state: 'settling' })];
  expect(describeHealth([row()], down)).toMatchObject({
    tone: 'bad',
    word: 'No stream failing, nothing waiting, 1 of 2 chains down, 1 of 2 chains not current',
  });
  const noted = row({ condition: { shape: 'ring', word: 'no addresses', tone: 'warn' } });
  expect(describeHealth([noted], [chain()])).toMatchObject({
    tone: 'warn',
    word: 'No stream failing, 1 to look at, nothing waiting, chains current',
  });
});

test('streams that fail for the same cause are one incident, the largest first', () => {
  const rows = [
    row({ isFailing: true, latest: failed(null, 5) }, { id: 'b', failingSince: 50, queue: 1 }),
    row({ isFailing: true, latest: failed(503, 7) }, { id: 'c', failingSince: 90, queue: 4 }),
    row({ isFailing: true, latest: failed(503, 9) }, { id: 'd', failingSince: 70, queue: 3 }),
    row(),
  ];
  const incidents = toIncidents(rows, new Map());
  expect(incidents.map(({ cause, since, waiting }) => [cause, since, waiting])).toEqual([
    ['503 from api.acme.io', 70, 7],
    ['no response from api.acme.io', 50, 1],
  ]);
  expect(incidents[0]?.streams.map(({ stream }) => stream.id)).toEqual(['c', 'd']);
  expect(incidents[0]?.latest?.id).toBe('d9');
});

test('a chain that is down is one incident of all its streams', () => {
  const chains = new Map([['0x1', chain()]]);
  const rows = [row({ down: ['0x1'] }), row({ down: ['0x1', '0x2'] })];
  const incidents = toIncidents(rows, chains);
  expect(incidents.map(({ cause, chainId, streams }) => [cause, chainId, streams.length])).toEqual([
    ['Ethereum is down', '0x1', 2],
    ['0x2 is down', '0x2', 1],
  ]);
});
