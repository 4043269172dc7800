import type { Incident, StreamSummary } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import type { WatchedChain } from '../../chains/timeline.ts';
import type { FleetStream } from '../../data/fleet.ts';
import { affectedStreams } from './affectedStreams.ts';
import { describeHealth, describeIncidents, recentIncidents } from './health.ts';

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

const incident = (changes: Partial<Incident>): Incident => ({
  id: 'i',
  kind: 'receiver',
  cause: '503 from api.acme.io',
  reason: '',
  receiver: 'api.acme.io',
  chainId: null,
  affected: [],
  affectedCount: 0,
  deliveryId: null,
  startedAt: 0,
  endedAt: null,
  ...changes,
});

test('open incidents come first, and ended ones are shown for a day', () => {
  const day = 24 * 3_600_000;
  const all = [
    incident({ id: 'ended', endedAt: 10 }),
    incident({ id: 'open' }),
    incident({ id: 'long ago', endedAt: 9 }),
  ];
  const shown = recentIncidents(all, day + 9);
  expect(shown.map(({ id }) => id)).toEqual(['open', 'ended']);
  expect(describeIncidents(shown)).toBe('1 incident, 1 ended');
  expect(describeIncidents(shown.slice(1))).toBe('1 incident ended');
  expect(describeIncidents([...shown.slice(0, 1), incident({})])).toBe('2 incidents');
});

test('an incident affects its streams, and one of a chain those that watch it', () => {
  const fleet = [row({}, { id: 'a' }), row({ down: ['0x1'] }, { id: 'b' })];
  const idsOf = (changes: Partial<Incident>) =>
    affectedStreams(incident(changes), fleet).map(({ stream }) => stream.id);
  expect(idsOf({ affected: [{ streamId: 'a' }, { streamId: 'deleted' }] })).toEqual(['a']);
  expect(idsOf({ kind: 'chain', chainId: '0x1' })).toEqual(['b']);
  expect(idsOf({ kind: 'disk' })).toEqual([]);
});
