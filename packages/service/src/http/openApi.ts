/**
 * The OpenAPI 3.1 document of the whole HTTP API, made of the contract's routes and schemas: what is
 * checked is what is documented. `docs/openapi.json` is a copy of it, which a test holds current.
 */
import {
  type Access,
  ROUTES,
  type Route,
  type RouteName,
  SLUICE_ROUTES,
  TEST_WEBHOOK,
  activityQuerySchema,
  chainLogQuerySchema,
  aptosAddressesSchema,
  aptosBackfillSchema,
  aptosBlockChoiceSchema,
  aptosDryRunSchema,
  aptosLabelledAddressesSchema,
  createApiKeySchema,
  createAptosStreamSchema,
  createEvmStreamSchema,
  dryRunBlockSchema,
  evmDryRunSchema,
  evmAddressesSchema,
  evmLabelledAddressesSchema,
  explainQuerySchema,
  historicalJobSchema,
  inboxAnswerSchema,
  createReplaySchema,
  estimateReplaySchema,
  deliveryFacetsQuerySchema,
  listDeliveriesQuerySchema,
  listHistoryQuerySchema,
  listLogsQuerySchema,
  listAddressesQuerySchema,
  listQuerySchema,
  listStreamsQuerySchema,
  listTapesSchema,
  rotateStreamSecretSchema,
  settingsSchema,
  streamStatusSchema,
  updateAptosStreamSchema,
  updateEvmStreamSchema,
} from '@sluice/kit/contract';
import * as z from 'zod';
import { ANSWER_SCHEMAS } from './answerSchemas.ts';
import { listJobsQuerySchema, resumeSchema, setJobStateSchema } from './handlers/blocks.ts';
import { signInSchema } from './handlers/sluice.ts';
import { EXAMPLES } from './openApiExamples.ts';
import { IGNORED_QUERY_HEADER } from './query.ts';

type Json = Record<string, unknown>;

const REQUEST_SCHEMAS = {
  CreateEvmStream: createEvmStreamSchema,
  UpdateEvmStream: updateEvmStreamSchema,
  CreateAptosStream: createAptosStreamSchema,
  UpdateAptosStream: updateAptosStreamSchema,
  SetStreamStatus: streamStatusSchema,
  EvmAddresses: evmAddressesSchema,
  LabelledEvmAddresses: evmLabelledAddressesSchema,
  AptosAddresses: aptosAddressesSchema,
  LabelledAptosAddresses: aptosLabelledAddressesSchema,
  AptosBackfill: aptosBackfillSchema,
  AptosBlockChoice: aptosBlockChoiceSchema,
  AptosDryRun: aptosDryRunSchema,
  EvmDryRun: evmDryRunSchema,
  SetSettings: settingsSchema,
  DryRunBlock: dryRunBlockSchema,
  CreateHistoricalJob: historicalJobSchema,
  SignIn: signInSchema,
  SetJobState: setJobStateSchema,
  ListTapes: listTapesSchema,
  EstimateReplay: estimateReplaySchema,
  CreateReplay: createReplaySchema,
  ResumeChain: resumeSchema,
  SetInbox: inboxAnswerSchema,
  CreateApiKey: createApiKeySchema,
  RotateStreamSecret: rotateStreamSecretSchema,
};

/** Every shape of the document, by its name there. */
export const SCHEMAS = { ...REQUEST_SCHEMAS, ...ANSWER_SCHEMAS };

export type SchemaName = keyof typeof SCHEMAS;

const TAGS = {
  'EVM streams': 'What is watched on EVM chains, and where it is delivered',
  'Aptos streams': 'The same on Aptos',
  History: 'What was delivered and what was not, EVM and Aptos together',
  Account: 'Settings and statistics',
  'Past blocks': 'Calls about blocks that are there already',
  Sluice: 'Our own routes, beyond the compatible API',
} as const;

/** Beside those that any call may have: 401, 403, 413, 429 and 500. */
const ERRORS = {
  400: 'The body is not JSON, an address is none, or the webhook URL did not take the test webhook',
  404: 'There is none with this id',
  409: 'It is in a state that forbids this',
  422: 'A field is not as it should be; `details` names it, its value and what it should be',
  503: 'Busy with another change; `retry-after` says when to try again',
} as const;

const COMMON_ERRORS = {
  401: 'The `x-api-key` header is missing or wrong',
  403: 'The key lacks the scope, or the `Host` or `Origin` of the request is not served here',
  413: 'The body is over the limit of its route: 1 MiB, address calls 64 MiB',
  429: 'Too many calls, or too many wrong keys; `retry-after` says when to try again',
  500: 'Something went wrong here; the log has it under the `requestId`',
} as const;

interface Operation {
  summary: string;
  description?: string;
  tag: keyof typeof TAGS;
  query?: z.ZodType;
  body?: keyof typeof REQUEST_SCHEMAS;
  /** A shape of the contract, another JSON Schema, or none: 204. */
  answer: keyof typeof ANSWER_SCHEMAS | Json | undefined;
  errors: (keyof typeof ERRORS)[];
}

const tested =
  'First sends the test webhook to the URL, which must answer with a 2xx: otherwise a 400 and nothing is stored.';

const OPERATIONS: Record<RouteName, Operation> = {
  listEvmStreams: {
    summary: 'List streams, newest first',
    tag: 'EVM streams',
    query: listStreamsQuerySchema,
    answer: 'EvmStreamPage',
    errors: [422],
  },
  createEvmStream: {
    summary: 'Create a stream',
    description: tested,
    tag: 'EVM streams',
    body: 'CreateEvmStream',
    answer: 'EvmStream',
    errors: [400, 422],
  },
  getEvmStream: {
    summary: 'Read a stream',
    tag: 'EVM streams',
    answer: 'EvmStream',
    errors: [404, 422],
  },
  updateEvmStream: {
    summary: 'Change the given fields of a stream',
    description: `Where webhookUrl or headers are given: ${tested}`,
    tag: 'EVM streams',
    body: 'UpdateEvmStream',
    answer: 'EvmStream',
    errors: [400, 404, 422],
  },
  deleteEvmStream: {
    summary: 'Delete a stream; answers with it as it was',
    description: 'What was not sent is cancelled; its history stays.',
    tag: 'EVM streams',
    answer: 'EvmStream',
    errors: [404, 422],
  },
  setEvmStreamStatus: {
    summary: 'Pause a stream or make it active',
    description: `To become active: ${tested}`,
    tag: 'EVM streams',
    body: 'SetStreamStatus',
    answer: 'EvmStream',
    errors: [400, 404, 422],
  },
  listEvmAddresses: {
    summary: 'List the addresses of a stream, in their own order',
    tag: 'EVM streams',
    query: listQuerySchema,
    answer: 'StreamAddressPage',
    errors: [404, 422],
  },
  addEvmAddresses: {
    summary: 'Watch more addresses: one, or up to a million',
    tag: 'EVM streams',
    body: 'LabelledEvmAddresses',
    answer: 'AddressesAnswer',
    errors: [400, 404, 422, 503],
  },
  removeEvmAddresses: {
    summary: 'Watch these addresses no more',
    description: 'All or nothing: one that is not watched is a 404, and nothing is removed.',
    tag: 'EVM streams',
    query: z.object({ address: z.array(z.string()).optional().describe('Without a body') }),
    body: 'EvmAddresses',
    answer: 'AddressesAnswer',
    errors: [400, 404, 422, 503],
  },
  replaceEvmAddresses: {
    summary: 'Watch these addresses and no others',
    tag: 'EVM streams',
    body: 'LabelledEvmAddresses',
    answer: 'AddressesAnswer',
    errors: [400, 404, 422, 503],
  },
  duplicateEvmStream: {
    summary: 'Create a stream with the fields and addresses of this one',
    description: `The duplicate of a paused stream is paused. Of any other: ${tested}`,
    tag: 'EVM streams',
    answer: 'EvmStream',
    errors: [400, 404, 422],
  },
  listAptosStreams: {
    summary: 'List streams, newest first',
    tag: 'Aptos streams',
    query: listStreamsQuerySchema,
    answer: 'AptosStreamPage',
    errors: [422],
  },
  createAptosStream: {
    summary: 'Create a stream',
    description: tested,
    tag: 'Aptos streams',
    body: 'CreateAptosStream',
    answer: 'AptosStream',
    errors: [400, 422],
  },
  getAptosStream: {
    summary: 'Read a stream',
    tag: 'Aptos streams',
    answer: 'AptosStream',
    errors: [404, 422],
  },
  updateAptosStream: {
    summary: 'Change the given fields of a stream',
    description: `Where webhookUrl or headers are given: ${tested}`,
    tag: 'Aptos streams',
    body: 'UpdateAptosStream',
    answer: 'AptosStream',
    errors: [400, 404, 422],
  },
  deleteAptosStream: {
    summary: 'Delete a stream',
    tag: 'Aptos streams',
    answer: { const: true },
    errors: [404, 422],
  },
  setAptosStreamStatus: {
    summary: 'Pause a stream or make it active',
    description: `To become active: ${tested}`,
    tag: 'Aptos streams',
    body: 'SetStreamStatus',
    answer: 'AptosStreamStatus',
    errors: [400, 404, 422],
  },
  listAptosAddresses: {
    summary: 'List the addresses of a stream, in their own order',
    tag: 'Aptos streams',
    query: listQuerySchema,
    answer: 'StreamAddressPage',
    errors: [404, 422],
  },
  addAptosAddresses: {
    summary: 'Watch more addresses; leading zeros may be left out',
    tag: 'Aptos streams',
    body: 'LabelledAptosAddresses',
    answer: 'AddressesAnswer',
    errors: [400, 404, 422, 503],
  },
  removeAptosAddresses: {
    summary: 'Watch these addresses no more',
    description: 'All or nothing: one that is not watched is a 404, and nothing is removed.',
    tag: 'Aptos streams',
    query: z.object({ address: z.array(z.string()).optional().describe('Without a body') }),
    body: 'AptosAddresses',
    answer: 'AddressesAnswer',
    errors: [400, 404, 422, 503],
  },
  listHistory: {
    summary: 'List webhooks that could not be delivered, newest first',
    description:
      'Those whose last attempt failed: given up, or still to be retried. One that is delivered later is here no more.',
    tag: 'History',
    query: listHistoryQuerySchema,
    answer: 'HistoryPage',
    errors: [422],
  },
  replayHistory: {
    summary: 'Send a webhook again at once, with its id and body',
    description:
      'Also one that was delivered. After the last attempt of the schedule it is tried once more.',
    tag: 'History',
    answer: 'HistoryRecord',
    errors: [404, 409, 422],
  },
  listLogs: {
    summary: 'List webhooks that were attempted, newest first, with how the last attempt ended',
    tag: 'History',
    query: listLogsQuerySchema,
    answer: 'DeliveryLogPage',
    errors: [422],
  },
  readSettings: {
    summary: 'Read region and streams secret',
    tag: 'Account',
    answer: 'Settings',
    errors: [],
  },
  setSettings: {
    summary: 'Change region or streams secret; answers with both',
    description: 'A secret that was given with --secret is changed there.',
    tag: 'Account',
    body: 'SetSettings',
    answer: 'Settings',
    errors: [400, 409, 422],
  },
  getStats: {
    summary: 'What was delivered, of all streams together and of each',
    tag: 'Account',
    answer: 'Stats',
    errors: [],
  },
  getStreamStats: {
    summary: 'What was delivered of one stream',
    tag: 'Account',
    answer: 'StreamStats',
    errors: [404, 422],
  },
  dryRunEvmBlock: {
    summary: 'The webhook that a stream with these fields would get of a block',
    description: 'Nothing is sent or stored.',
    tag: 'Past blocks',
    body: 'DryRunBlock',
    answer: 'DryRunAnswer',
    errors: [400, 404, 409, 422, 503],
  },
  sendEvmBlock: {
    summary: 'Match a block with a stream as it is now, and send what it holds',
    tag: 'Past blocks',
    answer: { type: 'integer', minimum: 0, description: 'Records in the webhook; 0: none is sent' },
    errors: [404, 409, 422, 503],
  },
  createHistoricalJob: {
    summary: 'Match a range of past blocks, and send what they hold',
    tag: 'Past blocks',
    body: 'CreateHistoricalJob',
    answer: 'HistoricalJobAnswer',
    errors: [400, 404, 422],
  },
};

const SLUICE_OPERATIONS: Record<keyof typeof SLUICE_ROUTES, Operation> = {
  createSession: {
    summary: 'Trade an API key for the session cookie of the console',
    tag: 'Sluice',
    body: 'SignIn',
    answer: undefined,
    errors: [400, 422],
  },
  checkSession: {
    summary: 'Whether the request carries a valid key or session',
    tag: 'Sluice',
    answer: undefined,
    errors: [],
  },
  deleteSession: {
    summary: 'End the session of the console, for every copy of its cookie',
    tag: 'Sluice',
    answer: undefined,
    errors: [],
  },
  getAbout: {
    summary: 'Which version runs, on what, and how long deliveries are kept',
    tag: 'Sluice',
    answer: 'About',
    errors: [],
  },
  getExpiry: {
    summary: 'What retention is about to forget, and when',
    tag: 'Sluice',
    answer: 'Expiry',
    errors: [],
  },
  listStreamSummaries: {
    summary: 'Every stream with its recent numbers, newest first',
    tag: 'Sluice',
    answer: 'StreamSummaryList',
    errors: [],
  },
  listDeliveries: {
    summary: 'List deliveries, newest first',
    tag: 'Sluice',
    query: listDeliveriesQuerySchema,
    answer: 'DeliveryPage',
    errors: [422],
  },
  getDeliveryFacets: {
    summary: 'How many deliveries there are of each state, status, stream and so on',
    tag: 'Sluice',
    query: deliveryFacetsQuerySchema,
    answer: 'DeliveryFacets',
    errors: [422],
  },
  getDelivery: {
    summary: 'A delivery with every attempt, without its body',
    tag: 'Sluice',
    answer: 'DeliveryDetail',
    errors: [404, 422],
  },
  getDeliveryBody: {
    summary: 'The body of a delivery, byte by byte as it is sent',
    description: 'That of the last attempt, or of the first one to come. There is no envelope.',
    tag: 'Sluice',
    answer: { contentMediaType: 'application/json' },
    errors: [404, 422],
  },
  getActivity: {
    summary: 'Attempts over time, of one stream or of all, oldest first',
    description:
      'As they were counted two seconds ago. Kept are two days by the minute and eight by the hour: of steps of 5 minutes 576 at most, of an hour 192.',
    tag: 'Sluice',
    query: activityQuerySchema,
    answer: 'Activity',
    errors: [404, 422],
  },
  getActivityBreakdown: {
    summary:
      'What the attempts and matches of the same time consisted of: statuses, chains, events',
    description:
      'Statuses and records come most frequent first. Records are counted once, when their block is matched.',
    tag: 'Sluice',
    query: activityQuerySchema,
    answer: 'ActivityBreakdown',
    errors: [404, 422],
  },
  listAddresses: {
    summary: 'Addresses of a stream of either family, with when and by whom they were added',
    description:
      '`find` takes how they begin, their ends (`0x28C6…1d60`), or a part of them or of their labels.',
    tag: 'Sluice',
    query: listAddressesQuerySchema,
    answer: 'AddressPage',
    errors: [404, 422],
  },
  listStreamChanges: {
    summary: 'What was done to a stream, or became of it, newest first, at most 100',
    description:
      'Edits with the fields they changed, pauses, new secrets, and what the service did itself when the receiver failed. Addresses are not among it.',
    tag: 'Sluice',
    answer: 'StreamChangeList',
    errors: [404, 422],
  },
  listTapes: {
    summary: 'What became of the newest blocks of several streams',
    description:
      'Of each stream, in the order asked for, the blocks of its chains that it matched. A stream that is not there is left out.',
    tag: 'Sluice',
    body: 'ListTapes',
    answer: 'StreamTapeList',
    errors: [400, 422],
  },
  listReorgs: {
    summary: 'Where chains went another way, newest first; of each chain 100 are kept',
    tag: 'Sluice',
    query: chainLogQuerySchema,
    answer: 'ReorgList',
    errors: [422],
  },
  listGaps: {
    summary: 'Where chains did not go on block by block, and why, newest first',
    description:
      'Blocks that were left out when a chain was resumed, passed over while no stream watched it, or ' +
      'before which it halted; of each chain 100 are kept.',
    tag: 'Sluice',
    query: chainLogQuerySchema,
    answer: 'GapList',
    errors: [422],
  },
  listInboxes: {
    summary: 'The built-in receivers, by name',
    description: 'A stream with the webhookUrl sluice://inbox/<name> delivers into one.',
    tag: 'Sluice',
    answer: 'InboxList',
    errors: [],
  },
  setInbox: {
    summary: 'Make an inbox, or change how it answers; what is left out takes its default',
    tag: 'Sluice',
    body: 'SetInbox',
    answer: 'Inbox',
    errors: [400, 422],
  },
  deleteInbox: {
    summary: 'Forget an inbox and what came into it',
    tag: 'Sluice',
    answer: undefined,
    errors: [404, 422],
  },
  listInboxRequests: {
    summary: 'What came into an inbox, newest first',
    tag: 'Sluice',
    query: listQuerySchema,
    answer: 'InboxPage',
    errors: [422],
  },
  getInboxRequest: {
    summary: 'A webhook that came into an inbox, with headers and body',
    tag: 'Sluice',
    answer: 'InboxRequest',
    errors: [404, 422],
  },
  clearInbox: {
    summary: 'Forget what came into an inbox',
    tag: 'Sluice',
    answer: undefined,
    errors: [422],
  },
  explain: {
    summary: 'Why a webhook was sent, or not, stream by stream',
    description:
      'Of the hash of a transaction or block, a block number, a ledger version, an address, a name that ends in .eth, or the id of a delivery. What cannot be found is part of the answer.',
    tag: 'Sluice',
    query: explainQuerySchema,
    answer: 'Explanation',
    errors: [422],
  },
  listChains: {
    summary: 'How each chain is followed',
    tag: 'Sluice',
    answer: 'ChainHealthList',
    errors: [],
  },
  resumeChain: {
    summary: 'Go on with a halted chain; what is left out is recorded as a hole',
    tag: 'Sluice',
    body: 'ResumeChain',
    answer: 'ChainResumed',
    errors: [400, 404, 409, 422, 503],
  },
  getContract: {
    summary: 'What is at an address of a chain: a contract or none, a token perhaps',
    description: 'As the contract says of itself at the head of the chain: nobody checks its name.',
    tag: 'Sluice',
    answer: 'Contract',
    errors: [400, 422, 503],
  },
  getContractAbi: {
    summary: 'The ABI of a verified contract',
    description:
      'Asked of the server that the operator named for the chain (--abi-url); of a proxy also that of what it forwards to.',
    tag: 'Sluice',
    answer: 'ContractAbi',
    errors: [400, 404, 422, 503],
  },
  resolveName: {
    summary: 'The address that a name of ENS stands for',
    description:
      'Asked of Ethereum, or of Sepolia where that alone is read, at its head. Names that a server outside of the chain would tell are not followed.',
    tag: 'Sluice',
    answer: 'ResolvedName',
    errors: [400, 404, 422, 503],
  },
  dryRunEvm: {
    summary:
      'What an EVM stream would get of one block, what it nearly would, and which events there were',
    description:
      'With what its triggers and balances read at that block. `near`: logs that one comparison of a ' +
      'filter kept out, counted by rule. `seen`: how often the addresses had each event, whatever the ' +
      'stream chooses; all events that it names, and at most 20 others.',
    tag: 'Sluice',
    body: 'EvmDryRun',
    answer: 'EvmDryRunAnswer',
    errors: [400, 404, 409, 422, 503],
  },
  dryRunAptos: {
    summary:
      'What an Aptos stream would get of one block, and which functions and events there were',
    description:
      '`seen`: how many of the transactions that touch the addresses call each function, and how many ' +
      'events of each type they have, whatever the stream chooses; all that it names, and of each kind ' +
      'at most 20 others.',
    tag: 'Sluice',
    body: 'AptosDryRun',
    answer: 'AptosDryRunAnswer',
    errors: [400, 404, 422, 503],
  },
  sendAptosBlock: {
    summary: 'Match a block with an Aptos stream as it is now, and send what it holds',
    tag: 'Sluice',
    body: 'AptosBlockChoice',
    answer: { type: 'integer', minimum: 0, description: 'Records in the webhook; 0: none is sent' },
    errors: [400, 404, 422, 503],
  },
  createAptosBackfill: {
    summary:
      'Match past blocks with an Aptos stream, by height or version, and send what they hold',
    tag: 'Sluice',
    body: 'AptosBackfill',
    answer: 'Job',
    errors: [400, 404, 422, 503],
  },
  getCoverage: {
    summary: 'Which blocks a stream was held against, and which not',
    tag: 'Sluice',
    answer: 'StreamCoverage',
    errors: [404, 422],
  },
  listJobs: {
    summary: 'List backfills, newest first, at most 100',
    tag: 'Sluice',
    query: listJobsQuerySchema,
    answer: 'JobList',
    errors: [422],
  },
  stopDelivery: {
    summary: 'Give up a delivery that waits for its next attempt: it has failed',
    tag: 'Sluice',
    answer: 'DeliverySummary',
    errors: [404, 409, 422],
  },
  estimateReplay: {
    summary: 'What a replay of these deliveries would send',
    tag: 'Sluice',
    body: 'EstimateReplay',
    answer: 'ReplayEstimate',
    errors: [400, 422],
  },
  createReplay: {
    summary: 'Send deliveries again, each with its id and its body, oldest first',
    tag: 'Sluice',
    body: 'CreateReplay',
    answer: 'Replay',
    errors: [400, 422],
  },
  listReplays: {
    summary: 'List replays, newest first, at most 100',
    tag: 'Sluice',
    answer: 'ReplayList',
    errors: [],
  },
  getReplay: { summary: 'A replay', tag: 'Sluice', answer: 'Replay', errors: [404, 422] },
  getReplayProgress: {
    summary: 'When what a replay sent came to its end',
    tag: 'Sluice',
    answer: 'ReplayProgress',
    errors: [404, 422],
  },
  cancelReplay: {
    summary: 'End a replay; what it made due already is sent',
    tag: 'Sluice',
    answer: 'Replay',
    errors: [404, 409, 422],
  },
  getJob: { summary: 'A backfill', tag: 'Sluice', answer: 'Job', errors: [404, 422] },
  setJobState: {
    summary: 'Pause, resume or cancel a backfill',
    tag: 'Sluice',
    body: 'SetJobState',
    answer: 'Job',
    errors: [400, 404, 409, 422],
  },
  listApiKeys: {
    summary: 'Every API key there is or was, newest first, without the keys themselves',
    tag: 'Sluice',
    answer: 'ApiKeyList',
    errors: [],
  },
  createApiKey: {
    summary: 'Make an API key; the answer tells it this once',
    tag: 'Sluice',
    body: 'CreateApiKey',
    answer: 'CreatedApiKey',
    errors: [400, 422],
  },
  revokeApiKey: {
    summary: 'End an API key, and the console sessions that were opened with it',
    description: 'No process takes it any more 5 seconds later.',
    tag: 'Sluice',
    answer: 'ApiKey',
    errors: [404],
  },
  getStreamSecret: {
    summary: 'What signs the webhook-signature of a stream',
    tag: 'Sluice',
    answer: 'StreamSecret',
    errors: [404, 422],
  },
  rotateStreamSecret: {
    summary: 'Give a stream a new secret; the old ones sign beside it for a while',
    tag: 'Sluice',
    body: 'RotateStreamSecret',
    answer: 'StreamSecret',
    errors: [400, 404, 422],
  },
  listAudit: {
    summary: 'Who did what, newest first',
    description: 'Each record carries the hash of the one before it.',
    tag: 'Sluice',
    query: listQuerySchema,
    answer: 'AuditPage',
    errors: [422],
  },
  liveEvents: {
    summary: 'What happens, as server-sent events',
    description:
      'Each event has an increasing id and JSON in data; a client that reconnects with last-event-id gets what it missed, or an event `reset`.',
    tag: 'Sluice',
    answer: { contentMediaType: 'text/event-stream' },
    errors: [],
  },
};

const refTo = (name: SchemaName): Json => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: Json): Json => ({ 'application/json': { schema } });
const failure = (status: string): Json => ({ $ref: `#/components/responses/${status}` });

export function createOpenApi(version: string): Json {
  const paths: Record<string, Json> = {
    '/health': { get: OPEN_CALLS.health },
    '/ready': { get: OPEN_CALLS.ready },
    '/openapi.json': { get: OPEN_CALLS.openApi },
  };
  const calls: [string, Route, Operation][] = [
    ...Object.entries(ROUTES).map(([name, route]): [string, Route, Operation] => [
      name,
      route,
      OPERATIONS[name as RouteName],
    ]),
    ...Object.entries(SLUICE_ROUTES).map(([name, route]): [string, Route, Operation] => [
      name,
      route,
      SLUICE_OPERATIONS[name as keyof typeof SLUICE_ROUTES],
    ]),
  ];
  for (const [name, route, operation] of calls) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: toOperation(name, route, operation),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      description:
        'Streams of what happens on EVM chains and Aptos, as signed webhooks. Compatible with the hosted Streams API; what is under /sluice is our own.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { session: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: { evmDelivery: WEBHOOK },
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        session: { type: 'apiKey', in: 'cookie', name: 'sluice_session' },
      },
      responses: Object.fromEntries(
        Object.entries({ ...COMMON_ERRORS, ...ERRORS }).map(([status, description]) => [
          status,
          { description, content: json(refTo('Error')) },
        ]),
      ),
      headers: {
        [IGNORED_QUERY_HEADER]: {
          description: 'Fields of the query that the route does not have, percent-encoded',
          schema: { type: 'string' },
        },
      },
      schemas: createSchemas(),
    },
  };
}

function createSchemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [name, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id: name });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => refTo(id as SchemaName)['$ref'] as string,
    // What is sent, not what it is read as.
    io: 'input',
    unrepresentable: 'any',
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _schema, $id: _id, ...schema }]) => {
      const example = EXAMPLES[name as SchemaName];
      return [name, { ...schema, ...(example !== undefined && { examples: [example] }) }];
    }),
  );
}

const HEADERS = {
  [IGNORED_QUERY_HEADER]: { $ref: `#/components/headers/${IGNORED_QUERY_HEADER}` },
};

function toOperation(name: string, route: Route, operation: Operation): Json {
  const { summary, description, tag, body, answer, errors } = operation;
  const statuses = ['401', '403', '429', '500', ...(body === undefined ? [] : ['413']), ...errors];
  return {
    operationId: name,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    security: securityOf(route.access),
    parameters: [...pathParameters(route.path), ...queryParameters(operation.query)],
    ...(body !== undefined && {
      requestBody: { required: operation.query === undefined, content: json(refTo(body)) },
    }),
    responses: {
      ...(answer === undefined
        ? { '204': { description: 'Done' } }
        : { '200': { description: summary, headers: HEADERS, content: answerContent(answer) } }),
      ...Object.fromEntries(statuses.map((status) => [status, failure(String(status))])),
    },
  };
}

/** In 3.1 a list beside the name of a scheme tells the scopes that are wanted. */
function securityOf(access: Access): Json[] {
  if (access === 'open') return [];
  const scopes = access === 'any' ? [] : [access];
  return [{ apiKey: scopes }, { session: scopes }];
}

function answerContent(answer: NonNullable<Operation['answer']>): Json {
  if (typeof answer === 'string') return json(refTo(answer));
  return answer['contentMediaType'] === undefined
    ? json(answer)
    : { [answer['contentMediaType'] as string]: { schema: { type: 'string' } } };
}

const PATH_SCHEMAS: Record<string, Json> = {
  chainId: { type: 'string', description: 'Chain id in hex', examples: ['0x1'] },
  blockNumber: { type: 'integer', minimum: 0 },
  name: { type: 'string', description: 'Of an inbox', examples: ['my-app'] },
  keyId: { type: 'string', description: 'Id of an API key' },
  ensName: { type: 'string', description: 'Name of ENS', examples: ['vitalik.eth'] },
};
const UUID = { type: 'string', format: 'uuid' };

const pathParameters = (path: string): Json[] =>
  [...path.matchAll(/\{(\w{1,40})\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: path.startsWith('/sluice/chains/')
      ? PATH_SCHEMAS['chainId']
      : (PATH_SCHEMAS[name] ?? UUID),
  }));

/** None of them is required, and one that has several values stands there several times. */
function queryParameters(query: z.ZodType | undefined): Json[] {
  if (query === undefined) return [];
  const { properties = {} } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  }));
}

const OPEN_CALLS = {
  health: {
    operationId: 'health',
    summary: 'Whether the service works, and how far each chain is',
    tags: ['Sluice'],
    security: [],
    responses: { '200': { description: 'It works', content: json({ type: 'object' }) } },
  },
  ready: {
    operationId: 'ready',
    summary: 'Whether this process is fit for traffic: it has started and its ledger takes writes',
    tags: ['Sluice'],
    security: [],
    responses: {
      '200': { description: 'It is', content: json({ type: 'object' }) },
      '503': { description: 'It is not; `reasons` says why', content: json({ type: 'object' }) },
    },
  },
  openApi: {
    operationId: 'openApi',
    summary: 'This document',
    tags: ['Sluice'],
    security: [],
    responses: { '200': { description: 'This document', content: json({ type: 'object' }) } },
  },
};

const WEBHOOK = {
  post: {
    operationId: 'evmDelivery',
    summary: 'One block that one stream matched',
    description:
      'Sent when the block appears and again when it is confirmed. Any 2xx is success; otherwise it is sent again after 1 min, 10 min, 1 h, 2 h, 6 h, 12 h and 24 h.',
    security: [],
    parameters: [
      ['x-signature', 'Keccak-256 of body and streams secret, in hex'],
      ['webhook-id', 'Of the delivery: the same on every attempt'],
      ['webhook-timestamp', 'Unix seconds of the attempt'],
      [
        'webhook-signature',
        'As Standard Webhooks has it: with the secret of the stream, older ones that still sign, and the streams secret',
      ],
      ['x-region', 'Region of the account'],
      ['x-queue-size', 'Deliveries of the stream that are not finished'],
      ['x-records-charged', 'Records in the body; 0 unless it is confirmed'],
    ].map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: refTo('EvmWebhook'),
          examples: { test: { summary: 'The test webhook', value: TEST_WEBHOOK } },
        },
      },
    },
    responses: { '2XX': { description: 'Received' } },
  },
};
