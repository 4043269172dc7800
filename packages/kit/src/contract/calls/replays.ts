import * as z from 'zod';
import { text, flag, uuid, count, number, unixMs, idOf, tagged } from './basics.ts';
import { component, named, shape } from '../named.ts';
import { replayFilter } from '../requests/fields.ts';
import { REPLAY_STATES } from '../index.ts';
import { createReplaySchema, estimateReplaySchema } from '../requests/deliveries.ts';

const replayEstimate = named(
  'ReplayEstimate',
  'Deliveries and bytes that a replay with this filter would send.',
  z.strictObject({
    deliveries: count,
    bytes: count.describe('Approximate size of their bodies.'),
    isCapped: flag.describe('Whether counting stopped at a million.'),
  }),
);

const replay = named(
  'Replay',
  'Deliveries sent again, oldest first, each with its ID and body. A delivery is included if it existed when the replay was created and matches when its turn comes; deliveries that are in flight, canceled or of a deleted stream are skipped.',
  z.strictObject({
    id: uuid,
    name: text,
    filter: replayFilter,
    perSecond: number,
    state: shape('ReplayState', 'The state of a replay.', z.enum(REPLAY_STATES)).describe(
      '`done` once every delivery was processed, regardless of the result.',
    ),
    total: count.describe('Deliveries that matched when it was created; at most a million.'),
    replayed: count.describe('Queued so far.'),
    succeeded: count.describe(
      'Delivered. `failed`: failed permanently; `waiting`: queued or in flight. Deliveries that a later replay sent again are not counted.',
    ),
    failed: count,
    waiting: count,
    createdBy: text.describe(
      'Name of the API key that created it; `bootstrap` for the key of `--api-key`.',
    ),
    createdAt: unixMs,
    updatedAt: unixMs.describe('When it last progressed; if it is not `running`, when it ended.'),
  }),
);

const replayProgress = named(
  'ReplayProgress',
  'Deliveries that ended per step from `createdAt` on, without those that a later replay sent again. There are at most 60 steps, until shortly after the replay ends; retries may end later.',
  z.strictObject({
    stepMs: count.describe('Length of a step, at least 1,000.'),
    succeeded: z.array(count).describe('Delivered in each step.'),
    failed: z.array(count).describe('Failed permanently in each step.'),
  }),
);

const replayList = component('ReplayList', z.strictObject({ result: z.array(replay) }));

export const replaysCalls = tagged('Sluice', {
  estimateReplay: {
    method: 'POST',
    path: '/sluice/replays/estimate',
    scope: 'history:read',
    repeatable: true,
    summary: 'Estimate what a replay would send',
    body: estimateReplaySchema,
    response: replayEstimate,
    errors: [400, 422],
  },
  createReplay: {
    method: 'POST',
    path: '/sluice/replays',
    scope: 'replay',
    summary: 'Send deliveries again, oldest first, each with its ID and body',
    body: createReplaySchema,
    response: replay,
    errors: [400, 409, 422],
  },
  listReplays: {
    method: 'GET',
    path: '/sluice/replays',
    scope: 'history:read',
    summary: 'List replays, newest first, at most 100',
    response: replayList,
    errors: [],
  },
  getReplay: {
    method: 'GET',
    path: '/sluice/replays/{id}',
    scope: 'history:read',
    params: { id: idOf('replay') },
    summary: 'Read a replay',
    response: replay,
    errors: [404, 422],
  },
  getReplayProgress: {
    method: 'GET',
    path: '/sluice/replays/{id}/progress',
    scope: 'history:read',
    params: { id: idOf('replay') },
    summary: 'Read the results of a replay over time',
    response: replayProgress,
    errors: [404, 422],
  },
  cancelReplay: {
    method: 'POST',
    path: '/sluice/replays/{id}/cancel',
    scope: 'replay',
    repeatable: true,
    params: { id: idOf('replay') },
    summary: 'Cancel a replay; deliveries that it already queued are sent',
    response: replay,
    errors: [404, 409, 422],
  },
});
