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
} from './basics.ts';
import { webhookFields, evmWebhook, aptosWebhook } from './webhooks.ts';
import { component, named, shape, typed } from '../named.ts';
import {
  JOB_STATES,
  aptosBackfillSchema,
  aptosBlockChoiceSchema,
  aptosDryRunSchema,
  dryRunBlockSchema,
  evmDryRunSchema,
  historicalJobSchema,
} from '../index.ts';

const dryRunAnswer = named(
  'DryRunAnswer',
  'The webhook that would be sent. The hosted service may leave parts of it out.',
  typed(
    'Partial<EvmWebhook>',
    z.strictObject(webhookFields).partial() as unknown as z.ZodType<
      Partial<z.output<typeof evmWebhook>>
    >,
  ),
);

const historicalJobAnswer = named(
  'HistoricalJobAnswer',
  'What the service answers to a job over past blocks.',
  z.strictObject({
    message: text,
    totalPartitions: count.describe('Parts the range was cut into.'),
    jobId: uuid
      .exactOptional()
      .describe(
        'Ours: the id of the job at `/sluice/jobs/{id}`. The hosted service has no such key.',
      ),
  }),
);

const nearMiss = shape(
  'NearMiss',
  'Logs that all else would have let pass, and one comparison of a filter did not.',
  z.strictObject({
    event: text.describe('Such as `Transfer(address,address,uint256)`.'),
    name: text.describe('The rule: a parameter of the event, how it is compared, and with what.'),
    operator: z.enum(['lt', 'lte', 'gt', 'gte']),
    wanted: text.describe('Decimal.'),
    count: count.describe('Logs in the block.'),
    min: text.describe('Smallest and largest of the values that were compared; decimal.'),
    max: text,
  }),
);

const seenEvent = shape(
  'SeenEvent',
  'Logs of one event in a block.',
  z.strictObject({
    topic0: text.describe('32-byte hash, lower-case hex. Logs without one are not counted.'),
    signature: text
      .nullable()
      .describe(
        "Such as `Transfer(address,address,uint256)`, of the stream's own events or a token standard; else null.",
      ),
    indexed: count.describe(
      'How many inputs are indexed: ERC-20 and ERC-721 share a Transfer, with two and with three.',
    ),
    count,
  }),
);

const seenMovePath = shape(
  'SeenMovePath',
  'Calls of one function, or events of one type, in a block.',
  z.strictObject({
    kind: z.enum(['function', 'event']),
    path: text.describe(
      'As a stream may name it: without generic arguments, which is the type whatever its arguments are, and with them where the stream names them so. Addresses have 64 digits but the special ones: `0x1`.',
    ),
    count: count.describe('Transactions that call the function, or events.'),
  }),
);

const holeReason = shape(
  'HoleReason',
  'Why blocks were not evaluated: the stream was paused or terminated, the chain was resumed later, or they came before the stream.',
  z.enum(['paused', 'terminated', 'resumed', 'before']),
);

const blockRange = { from: count, to: count };
shape('BlockRange', 'Blocks from one to another, both included.', z.strictObject(blockRange));

const unverifiedRange = shape(
  'UnverifiedRange',
  'Blocks that were accepted unverified, and why.',
  z.strictObject({ ...blockRange, reason: text }),
);

const chainCoverage = shape(
  'ChainCoverage',
  'Which blocks of a chain a stream was held against.',
  z.strictObject({
    chainId,
    from: count.nullable().describe('First and last block evaluated; null where none is.'),
    to: count.nullable(),
    holes: z
      .array(z.strictObject({ ...blockRange, reason: holeReason }))
      .describe('Blocks between that were not, in order; a backfill of such a range removes it.'),
    unverified: z
      .array(unverifiedRange)
      .describe(
        'Blocks that were evaluated, but not verified in all they say; the newest 1,000 ranges, in order.',
      ),
  }),
);

const streamCoverage = named(
  'StreamCoverage',
  'Which blocks a stream was held against, chain by chain.',
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
    nextBlock: count.describe('The next block to be matched; `blockTo + 1` once all are.'),
    state: shape('JobState', 'Where a backfill stands.', z.enum(JOB_STATES)),
    message: text.describe('For people: why it waits or failed, or empty.'),
    matches: count.describe('Blocks in which the stream matched so far.'),
    createdAt: unixMs,
    updatedAt: unixMs,
  }),
);

const evmDryRunAnswer = named(
  'EvmDryRunAnswer',
  'What came of it.',
  z.strictObject({
    webhook: evmWebhook.nullable().describe('Null where nothing matches.'),
    near: z.array(nearMiss).describe('At most 20, most frequent first.'),
    seen: z
      .array(seenEvent)
      .describe(
        "The events that the stream's addresses emitted or that name one of them, whatever events, filters and records the stream chooses; most frequent first. All that the stream names, and at most 20 others.",
      ),
  }),
);

const aptosDryRunAnswer = named(
  'AptosDryRunAnswer',
  'What came of it.',
  z.strictObject({
    webhook: aptosWebhook.nullable().describe('Null where nothing matches.'),
    seen: z
      .array(seenMovePath)
      .describe(
        "The entry functions that the block's transactions call, and the events they have; of those transactions that touch an address of the stream, or of all when it watches all, whatever functions and events it chooses. Most frequent first: all that the stream names, and of each kind at most 20 others.",
      ),
  }),
);

const jobList = component('JobList', z.strictObject({ result: z.array(job) }));

const recordCount = count.describe('Records in the webhook; 0: none is sent');

export const pastBlocksCalls = tagged('Past blocks', {
  dryRunEvmBlock: {
    method: 'POST',
    path: '/streams/evm/{chainId}/block/{blockNumber}',
    scope: 'streams:read',
    params: { chainId: evmChainParam, blockNumber: blockNumberParam },
    summary: 'The webhook that a stream with these fields would get of a block',
    description: 'Nothing is sent or stored.',
    body: dryRunBlockSchema,
    answer: dryRunAnswer,
    errors: [400, 404, 409, 422, 503],
  },
  sendEvmBlock: {
    method: 'POST',
    path: '/streams/evm/{chainId}/block-to-webhook/{blockNumber}/{streamId}',
    scope: 'replay',
    params: { chainId: evmChainParam, blockNumber: blockNumberParam, streamId: idOf('stream') },
    summary: 'Match a block with a stream as it is now, and send what it holds',
    answer: recordCount,
    errors: [404, 409, 422, 503],
  },
  createHistoricalJob: {
    method: 'POST',
    path: '/historicalJobs/createJob',
    scope: 'replay',
    summary: 'Match a range of past blocks, and send what they hold',
    body: historicalJobSchema,
    answer: historicalJobAnswer,
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
      'What an EVM stream would get of one block, what it nearly would, and which events there were',
    description:
      'With what its triggers and balances read at that block. `near`: logs that one comparison of a ' +
      'filter kept out, counted by rule. `seen`: how often the addresses had each event, whatever the ' +
      'stream chooses; all events that it names, and at most 20 others.',
    body: evmDryRunSchema,
    answer: evmDryRunAnswer,
    errors: [400, 404, 409, 422, 503],
  },
  dryRunAptos: {
    method: 'POST',
    path: '/sluice/aptos/{network}/dry-run',
    scope: 'streams:read',
    params: { network: networkParam },
    summary:
      'What an Aptos stream would get of one block, and which functions and events there were',
    description:
      '`seen`: how many of the transactions that touch the addresses call each function, and how many ' +
      'events of each type they have, whatever the stream chooses; all that it names, and of each kind ' +
      'at most 20 others.',
    body: aptosDryRunSchema,
    answer: aptosDryRunAnswer,
    errors: [400, 404, 422, 503],
  },
  sendAptosBlock: {
    method: 'POST',
    path: '/sluice/aptos/{network}/streams/{id}/send',
    scope: 'replay',
    params: { network: networkParam, id: idOf('stream') },
    summary: 'Match a block with an Aptos stream as it is now, and send what it holds',
    body: aptosBlockChoiceSchema,
    answer: recordCount,
    errors: [400, 404, 422, 503],
  },
  createAptosBackfill: {
    method: 'POST',
    path: '/sluice/aptos/{network}/backfills',
    scope: 'replay',
    params: { network: networkParam },
    summary:
      'Match past blocks with an Aptos stream, by height or version, and send what they hold',
    body: aptosBackfillSchema,
    answer: job,
    errors: [400, 404, 422, 503],
  },
  getCoverage: {
    method: 'GET',
    path: '/sluice/streams/{id}/coverage',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'Which blocks a stream was held against, and which not',
    answer: streamCoverage,
    errors: [404, 422],
  },
  listJobs: {
    method: 'GET',
    path: '/sluice/jobs',
    scope: 'history:read',
    summary: 'List backfills, newest first, at most 100',
    query: z.object({
      streamId: z.uuid({ error: 'should be a stream id, a UUID' }).optional(),
    }),
    answer: jobList,
    errors: [422],
  },
  getJob: {
    method: 'GET',
    path: '/sluice/jobs/{id}',
    scope: 'history:read',
    params: { id: idOf('job') },
    summary: 'A backfill',
    answer: job,
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
    answer: job,
    errors: [400, 404, 409, 422],
  },
});
