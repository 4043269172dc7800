import * as z from 'zod';
import { text, uuid, count, unixMs, chainId, idOf, tagged, unverifiedCodes } from './basics.ts';
import { component, named, namedRequest, shape } from '../named.ts';
import { onlyDestination, wholeNumber } from '../requests/fields.ts';
import { JOB_STATES } from '../index.ts';
import type { CreateBackfills } from '../shapes.generated.ts';

const holeReason = shape(
  'HoleReason',
  'Why blocks were not evaluated or delivered: the stream was paused or terminated, the chain was resumed later, no node had the state in which the stream reads values, children of its factories were found later, their deliveries expired before a consumer of the feed had read them, or the stream did not exist yet.',
  z.enum(['paused', 'terminated', 'resumed', 'state', 'children', 'unread', 'before']),
);

const blockRange = { from: count, to: count };
const searchedRange = shape(
  'BlockRange',
  'A range of blocks, both ends included.',
  z.strictObject(blockRange),
);

const unverifiedRange = shape(
  'UnverifiedRange',
  'Blocks that were accepted unverified, and what the evidence for them does not cover.',
  z.strictObject({ ...blockRange, codes: unverifiedCodes }),
);

const chainCoverage = shape(
  'ChainCoverage',
  'The blocks of a chain that a stream was matched against.',
  z.strictObject({
    chainId,
    from: count.nullable().describe('First and last block evaluated; null if there are none.'),
    to: count.nullable(),
    holes: z
      .array(z.strictObject({ ...blockRange, reason: holeReason }))
      .describe(
        'Ranges in between that were not evaluated, in order; a backfill of a range removes it.',
      ),
    unverified: z
      .array(unverifiedRange)
      .describe(
        'Blocks that were evaluated but not completely verified; the newest 1,000 ranges, in order.',
      ),
    byRange: z
      .array(searchedRange)
      .describe(
        'Blocks that were searched by their logs, so that a node could have hidden matches in them; the newest 1,000 ranges, in order.',
      ),
    childrenMissing: z
      .array(searchedRange)
      .exactOptional()
      .describe(
        'Blocks whose children of factories are not all known, because their search has not finished; absent if there are none.',
      ),
  }),
);

const streamCoverage = named(
  'StreamCoverage',
  'The blocks that a stream was matched against, by chain.',
  z.strictObject({
    result: z.array(chainCoverage),
  }),
);

export const job = named(
  'Job',
  'A backfill: past blocks matched for one stream, delivered as confirmed; or a search of past blocks for the children of its factories.',
  z.strictObject({
    id: uuid,
    streamId: uuid,
    destination: count
      .exactOptional()
      .describe(
        'The only destination that gets the webhooks, 0 for the `webhookUrl`; absent for all.',
      ),
    chainId,
    kind: shape(
      'JobKind',
      'The work of a job: matching the records of past blocks, or finding children of factories.',
      z.enum(['records', 'children']),
    ),
    blockFrom: count,
    blockTo: count,
    nextBlock: count.describe('The next block to match; `blockTo + 1` when all are matched.'),
    state: shape('JobState', 'The state of a backfill.', z.enum(JOB_STATES)),
    message: text.describe('Human-readable reason why the job waits or failed; empty otherwise.'),
    matches: count.describe(
      'Blocks that the stream has matched so far; for `children`, the children found.',
    ),
    createdAt: unixMs,
    updatedAt: unixMs,
  }),
);

export const recordCount = count.describe(
  'Number of records in the webhook. If 0, no webhook is sent',
);

const jobList = component('JobList', z.strictObject({ result: z.array(job) }));

const createBackfillsSchema: z.ZodType<CreateBackfills> = namedRequest(
  'CreateBackfills',
  'The past of a stream, for one or all of its destinations.',
  z.strictObject({
    blockFrom: wholeNumber.describe('First block.'),
    destination: onlyDestination,
  }),
);

export const blocksCalls = tagged('Sluice', {
  getCoverage: {
    method: 'GET',
    path: '/sluice/streams/{id}/coverage',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'Read which blocks a stream was matched against, and the holes',
    response: streamCoverage,
    errors: [404, 422],
  },
  createBackfills: {
    method: 'POST',
    path: '/sluice/streams/{id}/backfills',
    scope: 'replay',
    repeatable: true,
    params: { id: idOf('stream') },
    summary: 'Match the past of a stream on each of its chains',
    description:
      'Creates a backfill for each chain, up to the block before those that the stream is matched against live. A chain whose backfill from this block exists, and is not canceled, gets no other one, so the call can be repeated.',
    body: createBackfillsSchema,
    response: jobList,
    errors: [400, 404, 409, 422],
  },
  listJobs: {
    method: 'GET',
    path: '/sluice/jobs',
    scope: 'history:read',
    summary: 'List backfills, newest first, at most 100',
    query: z.object({
      streamId: z.uuid({ error: 'should be a stream ID, a UUID' }).optional(),
    }),
    response: jobList,
    errors: [422],
  },
  getJob: {
    method: 'GET',
    path: '/sluice/jobs/{id}',
    scope: 'history:read',
    params: { id: idOf('job') },
    summary: 'Read a backfill',
    response: job,
    errors: [404, 422],
  },
  setJobState: {
    method: 'POST',
    path: '/sluice/jobs/{id}/state',
    scope: 'replay',
    repeatable: true,
    params: { id: idOf('job') },
    summary: 'Pause, resume or cancel a backfill',
    body: component(
      'SetJobState',
      z.strictObject({
        state: z.enum(['paused', 'running', 'cancelled'], {
          error: 'should be one of paused, running, cancelled',
        }),
      }),
    ),
    response: job,
    errors: [400, 404, 409, 422],
  },
});
