/** Tools that only read. */
import { DRY_RUN_TOOLS } from '../families/tools.ts';
import { chainName } from './chainName.ts';
import { withMaskedHeaders } from './maskedHeaders.ts';
import { explainQuerySchema, replayFilter } from '@sluice/kit/calls';
import { MAX_BODY_QUERY_LENGTH } from '@sluice/kit/contract';
import type { DeliveryAttempt, StreamSummary } from '@sluice/kit/sluice';
import * as z from 'zod';
import { findDeliveryId } from '../connection/shortIds.ts';
import { findStream } from '../streams/findStream.ts';
import { matchBlock, tryStored } from '../streams/matchBlock.ts';
import { readStream } from '../streams/saveStream.ts';
import { type Tool, defineTool } from './tool.ts';

export const streamName = z
  .string()
  .min(1)
  .max(256)
  .describe('ID of the stream, the start of the ID, or the tag.');

const blockNumber = z.int().min(0).describe('Block number.');

const listStreams = defineTool('list_streams', {
  title: 'List streams',
  description:
    'Lists streams, newest first, with status, queue and counts of the last 24 hours. Pass find to filter the streams.',
  input: z.strictObject({
    find: z.string().max(200).optional().describe('Part of the tag, description, ID or status.'),
    limit: z.int().min(1).max(100).default(50),
    offset: z.int().min(0).default(0).describe('Number of streams to skip.'),
  }),
  async call({ find = '', limit, offset }, { sluice }) {
    const wanted = find.toLowerCase();
    const found = (await sluice.listStreamSummaries()).filter(({ tag, description, id, status }) =>
      [tag, description, id, status].some((text) => text.toLowerCase().includes(wanted)),
    );
    const streams = found.slice(offset, offset + limit).map(toShownSummary);
    return { total: found.length, streams };
  },
});

/** Omits the time series, which only charts need. */
const toShownSummary = ({
  deliveredSeries: _series,
  hourlyDelivered: _delivered,
  hourlyFailed: _failed,
  ...summary
}: StreamSummary) => summary;

const getStream = defineTool('get_stream', {
  title: 'Read a stream',
  description:
    'Returns the rule of a stream, its statistics and its latest changes. Values of custom headers are masked.',
  input: z.strictObject({ stream: streamName }),
  async call({ stream }, connection) {
    const summary = await findStream(connection, stream);
    const [fields, changes] = await Promise.all([
      readStream(connection.api, summary),
      connection.sluice.listStreamChanges(summary.id),
    ]);
    return {
      rule: withMaskedHeaders(fields),
      statistics: toShownSummary(summary),
      changes: changes.slice(0, 20),
    };
  },
});

const listChildren = defineTool('list_children', {
  title: 'List children',
  description:
    "Lists the contracts that the factories of a stream have created, with the position of their factory in the stream's factories and the block since which they are watched. For the next page, pass the cursor of the result.",
  input: z.strictObject({
    stream: streamName,
    chain: chainName.optional(),
    find: z.string().min(1).max(100).optional().describe('Part of an address or label.'),
    limit: z.int().min(1).max(100).default(50),
    cursor: z.string().max(1024).optional(),
  }),
  async call({ stream, ...query }, { sluice }) {
    const { id } = await findStream({ sluice }, stream);
    return await sluice.listChildren(id, query);
  },
});

const listDestinations = defineTool('list_destinations', {
  title: 'List destinations',
  description:
    'Lists the additional destinations of a stream, with their number, URL and state. The webhookUrl of the stream itself is destination 0; get_stream returns it.',
  input: z.strictObject({ stream: streamName }),
  async call({ stream }, { sluice }) {
    const { id } = await findStream({ sluice }, stream);
    return (await sluice.listDestinations(id)).map(withMaskedHeaders);
  },
});

const listConsumers = defineTool('list_consumers', {
  title: 'List consumers of a feed',
  description:
    'Lists the consumers of a feed with their position and lag: the deliveries that they have not read, have leased, or missed, and the creation time of the first unacknowledged one.',
  input: z.strictObject({
    stream: streamName,
    destination: z
      .int()
      .min(0)
      .default(0)
      .describe('Number of the destination that is a feed; 0 for the webhookUrl.'),
  }),
  async call({ stream, destination }, { sluice }) {
    const { id } = await findStream({ sluice }, stream);
    return await sluice.listFeedConsumers(id, { destination });
  },
});

const listDeliveries = defineTool('list_deliveries', {
  title: 'List deliveries',
  description:
    'Lists deliveries without bodies, newest first. For the next page, pass the cursor of the result.',
  input: z.strictObject({
    filter: replayFilter.optional(),
    find: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('A transaction hash, an address, or part of the summary or of an address label.'),
    body: z
      .string()
      .min(1)
      .max(MAX_BODY_QUERY_LENGTH)
      .optional()
      .describe(
        'Part of the JSON text of the body, or a path with or without a value: `$.logs[*].address = 0x…`.',
      ),
    limit: z.int().min(1).max(100).default(25),
    cursor: z.string().max(1024).optional(),
  }),
  async call({ filter, ...page }, { sluice }) {
    return await sluice.listDeliveries({ ...filter, ...page });
  },
});

const getDelivery = defineTool('get_delivery', {
  title: 'Read a delivery',
  description:
    'Returns a delivery with its attempts and, if body is true, the webhook body that was sent. The response bodies of the receiver are not included.',
  input: z.strictObject({
    delivery: z.string().min(1).max(100).describe('ID of the delivery, or the start of the ID.'),
    body: z.boolean().default(false).describe('Also return the body.'),
  }),
  async call({ delivery, body }, { sluice }) {
    const id = await findDeliveryId(sluice, delivery);
    const [detail, text] = await Promise.all([
      sluice.getDelivery(id),
      body ? sluice.getDeliveryBody(id) : undefined,
    ]);
    return {
      ...detail,
      attemptList: detail.attemptList.map(toShownAttempt),
      ...(text !== undefined && { body: JSON.parse(text) as unknown }),
    };
  },
});

/**
 * Omits the receiver's response, which may repeat the custom headers and the URL in a form that
 * masking does not recognize.
 */
const toShownAttempt = ({ responseBody: _hidden, ...attempt }: DeliveryAttempt) => attempt;

const explain = defineTool('explain', {
  title: 'Explain',
  description:
    'Explains for each stream why a webhook was or was not sent for a transaction, block, Aptos version or delivery, or whether an address is watched.',
  input: explainQuerySchema,
  async call({ q, chain }, { sluice }) {
    return await sluice.explain(q, { chain });
  },
});

const listChains = defineTool('list_chains', {
  title: 'List chains',
  description:
    'Lists the chains that the service reads, their progress and the state of their nodes.',
  input: z.strictObject({}),
  async call(_, { sluice }) {
    return await sluice.listChains();
  },
});

const listIncidents = defineTool('list_incidents', {
  title: 'List incidents',
  description:
    'Lists what stopped or delayed webhooks, grouped by cause, newest first: failing receivers, chains that are down, quarantined deliveries, feeds that are not read, a full disk. For the next page, pass the cursor of the result.',
  input: z.strictObject({
    open: z.boolean().optional().describe('true: only those that last; false: only ended ones.'),
    limit: z.int().min(1).max(100).default(25),
    cursor: z.string().max(1024).optional(),
  }),
  async call(query, { sluice }) {
    return await sluice.listIncidents(query);
  },
});

const dryRunStream = defineTool('dry_run_stream', {
  title: 'Try a stream on a block',
  description:
    'Matches a past block against an existing stream and returns the webhook that the stream would send, the close matches of its filters and all events of its addresses. Sends and stores nothing.',
  input: z.strictObject({ stream: streamName, chain: chainName.optional(), block: blockNumber }),
  async call({ stream, chain, block }, connection) {
    const tried = tryStored(await findStream(connection, stream));
    const question = { stream: tried, chain: chain ?? tried.chains[0] ?? '', block };
    return await matchBlock(connection, { ...question, tx: undefined });
  },
});

export const READ_TOOLS: readonly Tool[] = [
  listStreams,
  getStream,
  listChildren,
  listDestinations,
  listConsumers,
  listDeliveries,
  getDelivery,
  explain,
  listChains,
  listIncidents,
  dryRunStream,
  ...DRY_RUN_TOOLS,
];
