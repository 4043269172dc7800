/** The calls about past blocks of EVM chains. */
import * as z from 'zod';
import {
  blockNumberParam,
  count,
  idOf,
  tagged,
  text,
  uuid,
} from '../../../contract/calls/basics.ts';
import { recordCount } from '../../../contract/calls/blocks.ts';
import { explainedValue } from '../../../contract/calls/deliveries.ts';
import {
  component,
  named,
  namedRequest,
  requestShape,
  shape,
  typed,
} from '../../../contract/named.ts';
import { triedStream } from '../../../contract/requests/blocks.ts';
import {
  chainId,
  given,
  onlyDestination,
  streamId,
  wholeNumber,
} from '../../../contract/requests/fields.ts';
import type {
  CompatibleDryRun,
  EvmDryRun,
  HistoricalJob,
} from '../../../contract/shapes.generated.ts';
import { toTried } from '../../../contract/streams/field.ts';
import { evmFields } from './fields.ts';
import { evmAddress, evmChainParam } from './values.ts';
import { evmWebhook, webhookFields } from './webhook.ts';

const { triggers, getNativeBalances, reads, ...matched } = toTried(evmFields);

const dryRunFields = {
  ...matched,
  addresses: given(z.array(evmAddress)).describe('EVM addresses the stream would watch.'),
};

export const compatibleDryRunSchema: z.ZodType<CompatibleDryRun> = namedRequest(
  'CompatibleDryRun',
  'A stream to try on one block.',
  z.strictObject(dryRunFields),
);

export const evmDryRunSchema: z.ZodType<EvmDryRun> = namedRequest(
  'EvmDryRun',
  'An EVM stream to try on one block. Triggers, balances and values on chain are read as for a webhook.',
  z.strictObject({
    ...dryRunFields,
    block: wholeNumber.describe('Block number.'),
    streamId: triedStream,
    triggers,
    getNativeBalances,
    reads,
  }),
);

export const historicalJobSchema: z.ZodType<HistoricalJob> = component(
  'CreateHistoricalJob',
  requestShape(
    'HistoricalJob',
    'Matches past blocks, both ends included, and sends the webhooks.',
    z
      .strictObject({
        chainId,
        streamId,
        blockFrom: wholeNumber,
        blockTo: wholeNumber,
        destination: onlyDestination,
      })
      .refine((it) => it.blockFrom <= it.blockTo, {
        error: 'should not be before blockFrom',
        path: ['blockTo'],
      }),
  ),
);

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
  'Logs or calls that a single `gt`, `gte`, `lt` or `lte` of a filter excluded.',
  z.strictObject({
    event: text
      .exactOptional()
      .describe('The event of logs, such as `Transfer(address,address,uint256)`.'),
    function: text
      .exactOptional()
      .describe(
        'The function of calls: its signature, its selector if the signature is unknown, or `*`.',
      ),
    name: text.describe('The compared parameter, or a special name of filters.'),
    operator: z.enum(['lt', 'lte', 'gt', 'gte']),
    filterValue: text.describe('The value in the filter, decimal.'),
    count: count.describe('Number of these logs or calls in the block.'),
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

const evmDryRunResult = named(
  'EvmDryRunResult',
  'The result of an EVM dry run.',
  z.strictObject({
    webhook: evmWebhook.nullable().describe('Null if nothing matches.'),
    valuesWebhook: evmWebhook
      .nullable()
      .exactOptional()
      .describe(
        'The webhook of the values on chain, which are compared with those in the block before; null if none is sent. Absent if the stream has no `reads`.',
      ),
    values: z
      .array(explainedValue)
      .exactOptional()
      .describe('Each value, and why it is sent or not: at most 1,000, read in two blocks.'),
    closeMatches: z.array(closeMatch).describe('Close matches, at most 20, most frequent first.'),
    observed: z
      .array(observedEvent)
      .describe(
        "Events that the stream's addresses emitted or that contain one of them, regardless of its selection; most frequent first. Includes all that the stream selects, and at most 20 others.",
      ),
  }),
);

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

export const evmBlocksCalls = tagged('Sluice', {
  dryRunEvm: {
    method: 'POST',
    path: '/sluice/evm/{chainId}/dry-run',
    scope: 'streams:read',
    params: { chainId: evmChainParam },
    summary:
      'Preview the webhook of an EVM stream for one block, with close matches and observed events',
    description:
      "Includes triggers and balances, read at that block. `closeMatches`: logs and calls that a single `gt`, `gte`, `lt` or `lte` of a filter excluded, counted by rule. `observed`: counts of the events of the addresses, regardless of the stream's selection; includes all events that the stream selects, and at most 20 others.",
    body: evmDryRunSchema,
    response: evmDryRunResult,
    errors: [400, 404, 409, 422, 503],
  },
});
