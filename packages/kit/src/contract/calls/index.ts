/** The table of calls, which declares every call of the HTTP API. */
import type * as z from 'zod';
import {
  accessCalls,
  accountCalls,
  alertCalls,
  historyCalls,
  publicKeyCalls,
  serviceCalls,
} from './account.ts';
import { activityCalls } from './activity.ts';
import { addressesCalls } from './addresses.ts';
import type { Call, Tag } from './basics.ts';
import { blocksCalls } from './blocks.ts';
import { chainsCalls } from './chains.ts';
import { deliveriesCalls, explainCalls } from './deliveries.ts';
import { destinationsCalls } from './destinations.ts';
import { feedsCalls } from './feeds.ts';
import { inboxesCalls } from './inboxes.ts';
import { incidentsCalls } from './incidents.ts';
import { receiversCalls } from './receivers.ts';
import { replaysCalls } from './replays.ts';
import { streamsCalls } from './streams.ts';
import {
  FAMILY_BLOCKS_CALLS,
  FAMILY_STREAMS_CALLS,
  childrenCalls,
  contractsCalls,
  pastBlocksCalls,
} from '../../families/schemas.ts';

export { SCHEMAS } from '../named.ts';
export * from '../../families/schemas.ts';
export { createReplaySchema, explainQuerySchema } from '../requests/deliveries.ts';
export { addDestinationSchema } from '../requests/destinations.ts';
export { anyChain, replayFilter } from '../requests/fields.ts';
export { type Access, type Call, TAGS, type Tag } from './basics.ts';

/** The calls of the hosted Streams API. */
export const COMPATIBLE_CALLS = {
  ...FAMILY_STREAMS_CALLS,
  ...historyCalls,
  ...accountCalls,
  ...pastBlocksCalls,
};

/** The calls that only Sluice has, under `/sluice`. */
export const SLUICE_CALLS = {
  ...serviceCalls,
  ...streamsCalls,
  ...addressesCalls,
  ...childrenCalls,
  ...deliveriesCalls,
  ...replaysCalls,
  ...receiversCalls,
  ...explainCalls,
  ...activityCalls,
  ...inboxesCalls,
  ...feedsCalls,
  ...destinationsCalls,
  ...chainsCalls,
  ...incidentsCalls,
  ...contractsCalls,
  ...alertCalls,
  ...publicKeyCalls,
  ...FAMILY_BLOCKS_CALLS,
  ...blocksCalls,
  ...accessCalls,
};

/** All calls by name. */
export const CALLS = { ...COMPATIBLE_CALLS, ...SLUICE_CALLS };

/** The `operationId` of a call in the OpenAPI document. */
export type CallName = keyof typeof CALLS;

/** All calls as a list, typed with every optional field. */
export const eachCall = Object.entries(CALLS) as [CallName, Call & { readonly tag: Tag }][];

type Parsed<Schema> = Schema extends z.ZodType<infer Value> ? Value : undefined;
type Field<Of, Name extends keyof Call> = Name extends keyof Of ? Of[Name] : undefined;

/** The validated input of a call's handler. */
export type HandlerInput<Of> = {
  readonly params: Of extends { params: infer Params }
    ? { readonly [Name in keyof Params]: Parsed<Params[Name]> }
    : undefined;
  readonly query: Of extends { readsItself: true } ? undefined : Parsed<Field<Of, 'query'>>;
  readonly body: Of extends { readsItself: true } ? undefined : Parsed<Field<Of, 'body'>>;
};

/** The result of a call's handler. */
export type ResponseData<Of> = Parsed<Field<Of, 'response'>>;
