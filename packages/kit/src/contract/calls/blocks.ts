import * as z from 'zod';
import {
  text,
  uuid,
  count,
  unixMs,
  chainId,
  idOf,
  evmChainParam,
  blockNumberParam,
  networkParam,
  tagged,
  unverifiedCodes,
} from './basics.ts';
import { webhookFields, evmWebhook, aptosWebhook } from './webhooks.ts';
import { component, named, shape, typed } from '../named.ts';
import { JOB_STATES } from '../index.ts';
import {
  aptosBackfillSchema,
  aptosBlockIdentifierSchema,
  aptosDryRunSchema,
  compatibleDryRunSchema,
  evmDryRunSchema,
  historicalJobSchema,
} from '../requests/blocks.ts';

const dryRunResult = named(
  'DryRunResult',
  'The webhook that would be sent. The hosted service may omit parts of it.',
  typed(
    'Partial<EvmWebhook>',
    z.strictObject(webhookFields).partial() as unknown as z.ZodType<
      Partial<z.output<typeof evmWebhook>>
    >,
  ),
);

const historicalJobResponse = named(
  'HistoricalJobResponse',
  'The response to creating a job over past blocks.',
  z.strictObject({
    message: text,
    totalPartitions: count.describe('Number of parts of the range.'),
    jobId: uuid.exactOptional().describe('ID of the job at `/sluice/jobs/{id}`. Sluice only.'),
  }),
);

const closeMatch = shape(
  'CloseMatch',
  'Logs that a single `gt`, `gte`, `lt` or `lte` of a filter excluded.',
  z.strictObject({
    event: text.describe('Such as `Transfer(address,address,uint256)`.'),
    name: text.describe('The compared parameter of the event.'),
    operator: z.enum(['lt', 'lte', 'gt', 'gte']),
    filterValue: text.describe('The value in the filter, decimal.'),
    count: count.describe('Number of these logs in the block.'),
    min: text.describe('Smallest and largest compared value, decimal.'),
    max: text,
  }),
);

const observedEvent = shape(
  'ObservedEvent',
  'Logs of one event in a block.',
  z.strictObject({
    topic0: text.describe('32-byte hash, lowercase hex. Logs without one are not counted.'),
    signature: text
      .nullable()
      .describe(
        "E.g. `Transfer(address,address,uint256)`, from the stream's own events or a token standard; otherwise null.",
      ),
    indexed: count.describe(
      'Number of indexed inputs: `Transfer` has two in ERC-20, three in ERC-721.',
    ),
    count,
  }),
);

const observedMovePath = shape(
  'ObservedMovePath',
  'Calls of one function, or events of one type, in a block.',
  z.strictObject({
    kind: z.enum(['function', 'event']),
    path: text.describe(
      'The path as a stream can select it: without generic arguments, which covers all variants, or with arguments if the stream selects them. Addresses have 64 digits, except special ones such as `0x1`.',
    ),
    count: count.describe(
      'Number of transactions that call the function, or of events of the type.',
    ),
  }),
);

const holeReason = shape(
  'HoleReason',
  'Why blocks were not evaluated: the stream was paused or terminated, the chain was resumed later, or the stream did not exist yet.',
  z.enum(['paused', 'terminated', 'resumed', 'before']),
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
  }),
);

const streamCoverage = named(
  'StreamCoverage',
  'The blocks that a stream was matched against, by chain.',
  z.strictObject({
    result: z.array(chainCoverage),
  }),
);

const job = named(
  'Job',
  'A backfill: past blocks matched for one stream, delivered as confirmed.',
  z.strictObject({
    id: uuid,
    streamId: uuid,
    chainId,
    blockFrom: count,
    blockTo: count,
    nextBlock: count.describe('The next block to match; `blockTo + 1` when all are matched.'),
    state: shape('JobState', 'The state of a backfill.', z.enum(JOB_STATES)),
    message: text.describe('Human-readable reason why the job waits or failed; empty otherwise.'),
    matches: count.describe('Blocks that the stream has matched so far.'),
    createdAt: unixMs,
    updatedAt: unixMs,
  }),
);

const evmDryRunResult = named(
  'EvmDryRunResult',
  'The result of an EVM dry run.',
  z.strictObject({
    webhook: evmWebhook.nullable().describe('Null if nothing matches.'),
    closeMatches: z.array(closeMatch).describe('Close matches, at most 20, most frequent first.'),
    observed: z
      .array(observedEvent)
      .describe(
        "Events that the stream's addresses emitted or that contain one of them, regardless of its selection; most frequent first. Includes all that the stream selects, and at most 20 others.",
      ),
  }),
);

const aptosDryRunResult = named(
  'AptosDryRunResult',
  'The result of an Aptos dry run.',
  z.strictObject({
    webhook: aptosWebhook.nullable().describe('Null if nothing matches.'),
    observed: z
      .array(observedMovePath)
      .describe(
        'Entry functions and events of the transactions that touch an address of the stream, or of all transactions if it watches all, regardless of its selection. Most frequent first. Includes all that the stream selects, and at most 20 others of each kind.',
      ),
  }),
);

const jobList = component('JobList', z.strictObject({ result: z.array(job) }));

const recordCount = count.describe('Number of records in the webhook. If 0, no webhook is sent');

export const pastBlocksCalls = tagged('Past blocks', {
  dryRunEvmBlock: {
    method: 'POST',
    path: '/streams/evm/{chainId}/block/{blockNumber}',
    scope: 'streams:read',
    params: { chainId: evmChainParam, blockNumber: blockNumberParam },
    summary: 'Preview the webhook that a stream with these fields would send for a block',
    description: 'Nothing is sent or stored.',
    body: compatibleDryRunSchema,
    response: dryRunResult,
    errors: [400, 404, 409, 422, 503],
  },
  sendEvmBlock: {
    method: 'POST',
    path: '/streams/evm/{chainId}/block-to-webhook/{blockNumber}/{streamId}',
    scope: 'replay',
    params: { chainId: evmChainParam, blockNumber: blockNumberParam, streamId: idOf('stream') },
    summary: 'Match a block against the current stream, and send the webhook',
    response: recordCount,
    errors: [404, 409, 422, 503],
  },
  createHistoricalJob: {
    method: 'POST',
    path: '/historicalJobs/createJob',
    scope: 'replay',
    summary: 'Match a range of past blocks against a stream, and send the webhooks',
    body: historicalJobSchema,
    response: historicalJobResponse,
    errors: [400, 404, 422],
  },
});

export const blocksCalls = tagged('Sluice', {
  dryRunEvm: {
    method: 'POST',
    path: '/sluice/evm/{chainId}/dry-run',
    scope: 'streams:read',
    params: { chainId: evmChainParam },
    summary:
      'Preview the webhook of an EVM stream for one block, with close matches and observed events',
    description:
      "Includes triggers and balances, read at that block. `closeMatches`: logs that a single `gt`, `gte`, `lt` or `lte` of a filter excluded, counted by rule. `observed`: counts of the events of the addresses, regardless of the stream's selection; includes all events that the stream selects, and at most 20 others.",
    body: evmDryRunSchema,
    response: evmDryRunResult,
    errors: [400, 404, 409, 422, 503],
  },
  dryRunAptos: {
    method: 'POST',
    path: '/sluice/aptos/{network}/dry-run',
    scope: 'streams:read',
    params: { network: networkParam },
    summary:
      'Preview the webhook of an Aptos stream for one block, with observed functions and events',
    description:
      "`observed`: counts of the functions and events of transactions that touch the addresses, regardless of the stream's selection; includes all that the stream selects, and at most 20 others of each kind.",
    body: aptosDryRunSchema,
    response: aptosDryRunResult,
    errors: [400, 404, 422, 503],
  },
  sendAptosBlock: {
    method: 'POST',
    path: '/sluice/aptos/{network}/streams/{id}/send',
    scope: 'replay',
    params: { network: networkParam, id: idOf('stream') },
    summary: 'Match a block against the current Aptos stream, and send the webhook',
    body: aptosBlockIdentifierSchema,
    response: recordCount,
    errors: [400, 404, 422, 503],
  },
  createAptosBackfill: {
    method: 'POST',
    path: '/sluice/aptos/{network}/backfills',
    scope: 'replay',
    params: { network: networkParam },
    summary:
      'Match past blocks against an Aptos stream, by height or version, and send the webhooks',
    body: aptosBackfillSchema,
    response: job,
    errors: [400, 404, 422, 503],
  },
  getCoverage: {
    method: 'GET',
    path: '/sluice/streams/{id}/coverage',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'Read which blocks a stream was matched against, and the holes',
    response: streamCoverage,
    errors: [404, 422],
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
