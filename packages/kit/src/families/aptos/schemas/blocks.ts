/** The calls about past blocks of Aptos networks. */
import * as z from 'zod';
import { count, idOf, tagged, text } from '../../../contract/calls/basics.ts';
import { job, recordCount } from '../../../contract/calls/blocks.ts';
import { named, namedRequest, shape } from '../../../contract/named.ts';
import { triedStream } from '../../../contract/requests/blocks.ts';
import {
  given,
  onlyDestination,
  streamId,
  wholeNumber,
} from '../../../contract/requests/fields.ts';
import type {
  AptosBackfill,
  AptosBlockIdentifier,
  AptosDryRun,
} from '../../../contract/shapes.generated.ts';
import { toTried } from '../../../contract/streams/field.ts';
import { aptosFields } from './fields.ts';
import { aptosAddress, networkParam } from './values.ts';
import { aptosWebhook } from './webhook.ts';

const blockIdentifier = { block: wholeNumber.optional(), version: wholeNumber.optional() };
const isChoice = ({ block, version }: AptosBlockIdentifier): boolean =>
  (block === undefined) !== (version === undefined);
const choiceError = {
  error: 'should be given, or version instead: exactly one of the two',
  path: ['block'],
};

const aptosBlockIdentifierSchema: z.ZodType<AptosBlockIdentifier> = namedRequest(
  'AptosBlockIdentifier',
  'A block of an Aptos chain, either by height or by a ledger version in it.',
  z.strictObject(blockIdentifier).refine(isChoice, choiceError),
);

export const aptosDryRunSchema: z.ZodType<AptosDryRun> = namedRequest(
  'AptosDryRun',
  'An Aptos stream to try on one block.',
  z
    .strictObject({
      ...blockIdentifier,
      streamId: triedStream,
      ...toTried(aptosFields),
      addresses: given(z.array(aptosAddress)).describe('Addresses the stream would watch.'),
    })
    .refine(isChoice, choiceError),
);

const aptosBackfillSchema: z.ZodType<AptosBackfill> = namedRequest(
  'AptosBackfill',
  'Past blocks of an Aptos chain, by height or by ledger version, both ends included.',
  z
    .strictObject({
      streamId,
      blockFrom: wholeNumber.optional(),
      blockTo: wholeNumber.optional(),
      versionFrom: wholeNumber.optional(),
      versionTo: wholeNumber.optional(),
      destination: onlyDestination,
    })
    .refine(
      (it) => {
        const isBlocks = it.blockFrom !== undefined && it.blockTo !== undefined;
        const isVersions = it.versionFrom !== undefined && it.versionTo !== undefined;
        const given = Object.keys(it).filter(
          (key) => key !== 'streamId' && key !== 'destination',
        ).length;
        return isBlocks !== isVersions && given === 2;
      },
      {
        error: 'should be given with blockTo, or versionFrom with versionTo instead',
        path: ['blockFrom'],
      },
    )
    .refine((it) => (it.blockFrom ?? it.versionFrom ?? 0) <= (it.blockTo ?? it.versionTo ?? 0), {
      error: 'should not be before the start of the range',
      path: ['blockTo'],
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

export const aptosBlocksCalls = tagged('Sluice', {
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
});
