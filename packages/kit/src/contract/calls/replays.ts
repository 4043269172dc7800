import * as z from 'zod';
import { text, flag, uuid, count, number, unixMs, idOf, tagged } from './basics.ts';
import { component, named, shape } from '../named.ts';
import { replayFilter } from '../requests/fields.ts';
import { REPLAY_STATES, createReplaySchema, estimateReplaySchema } from '../index.ts';

const replayEstimate = named(
  'ReplayEstimate',
  'What a replay of such a selection would send.',
  z.strictObject({
    deliveries: count,
    bytes: count.describe('Of their bodies, about.'),
    isCapped: flag.describe('There are more: counting ended here, at a million.'),
  }),
);

const replay = named(
  'Replay',
  'Deliveries sent again, oldest first, each with its id and its body. It takes those that fit when their turn comes, of those that were there when it was made; what is under way, cancelled or of a deleted stream is passed over.',
  z.strictObject({
    id: uuid,
    name: text,
    filter: replayFilter,
    perSecond: number,
    state: shape('ReplayState', 'Where a replay stands.', z.enum(REPLAY_STATES)).describe(
      '`done` once every delivery had its turn, however its sending ends.',
    ),
    total: count.describe('Deliveries that fitted when it was made; a million at most.'),
    replayed: count.describe('Made due so far.'),
    succeeded: count.describe(
      'Of those that it was the last to replay: delivered, given up, and waiting or under way.',
    ),
    failed: count,
    waiting: count,
    createdBy: text.describe(
      'Name of the API key that asked for it; `bootstrap` is the one that the service was started with.',
    ),
    createdAt: unixMs,
    updatedAt: unixMs.describe('When it moved on last; once it is not `running`, when it ended.'),
  }),
);

const replayProgress = named(
  'ReplayProgress',
  'How many of the deliveries that a replay was the last to send came to their end, step by step from `createdAt` on: at most 60 steps, which end soon after the replay does. A retry may end later still.',
  z.strictObject({
    stepMs: count.describe('Of one step: a second at least.'),
    succeeded: z.array(count).describe('Delivered in each step.'),
    failed: z.array(count).describe('Given up in each step.'),
  }),
);

const replayList = component('ReplayList', z.strictObject({ result: z.array(replay) }));

export const replaysCalls = tagged('Sluice', {
  estimateReplay: {
    method: 'POST',
    path: '/sluice/replays/estimate',
    scope: 'history:read',
    repeatable: true,
    summary: 'What a replay of these deliveries would send',
    body: estimateReplaySchema,
    answer: replayEstimate,
    errors: [400, 422],
  },
  createReplay: {
    method: 'POST',
    path: '/sluice/replays',
    scope: 'replay',
    summary: 'Send deliveries again, each with its id and its body, oldest first',
    body: createReplaySchema,
    answer: replay,
    errors: [400, 422],
  },
  listReplays: {
    method: 'GET',
    path: '/sluice/replays',
    scope: 'history:read',
    summary: 'List replays, newest first, at most 100',
    answer: replayList,
    errors: [],
  },
  getReplay: {
    method: 'GET',
    path: '/sluice/replays/{id}',
    scope: 'history:read',
    params: { id: idOf('replay') },
    summary: 'A replay',
    answer: replay,
    errors: [404, 422],
  },
  getReplayProgress: {
    method: 'GET',
    path: '/sluice/replays/{id}/progress',
    scope: 'history:read',
    params: { id: idOf('replay') },
    summary: 'When what a replay sent came to its end',
    answer: replayProgress,
    errors: [404, 422],
  },
  cancelReplay: {
    method: 'POST',
    path: '/sluice/replays/{id}/cancel',
    scope: 'replay',
    repeatable: true,
    params: { id: idOf('replay') },
    summary: 'End a replay; what it made due already is sent',
    answer: replay,
    errors: [404, 409, 422],
  },
});
