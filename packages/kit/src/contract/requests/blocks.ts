/** Schemas of dry runs, of backfills, and of requests for a single past block. */
import * as z from 'zod';
import { component, namedRequest, requestShape } from '../named.ts';
import type {
  AptosBackfill,
  AptosBlockIdentifier,
  AptosDryRun,
  CompatibleDryRun,
  EvmDryRun,
  HistoricalJob,
} from '../shapes.generated.ts';
import { aptosAddress, chainId, evmAddress, given, streamId, wholeNumber } from './fields.ts';
import { aptosFields } from '../streams/aptosFields.ts';
import { evmFields } from '../streams/evmFields.ts';
import { toTried } from '../streams/field.ts';

const triedStream = given(streamId).describe(
  'A stored stream to try. Fields that are left out, including `addresses`, are those of the stream.',
);

const { triggers, getNativeBalances, ...matched } = toTried(evmFields);

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
  'An EVM stream to try on one block. Triggers and balances are read from the chain as for a webhook.',
  z.strictObject({
    ...dryRunFields,
    block: wholeNumber.describe('Block number.'),
    streamId: triedStream,
    triggers,
    getNativeBalances,
  }),
);

export const historicalJobSchema: z.ZodType<HistoricalJob> = component(
  'CreateHistoricalJob',
  requestShape(
    'HistoricalJob',
    'Matches past blocks, both ends included, and sends the webhooks.',
    z
      .strictObject({ chainId, streamId, blockFrom: wholeNumber, blockTo: wholeNumber })
      .refine((it) => it.blockFrom <= it.blockTo, {
        error: 'should not be before blockFrom',
        path: ['blockTo'],
      }),
  ),
);

const blockIdentifier = { block: wholeNumber.optional(), version: wholeNumber.optional() };
const isChoice = ({ block, version }: AptosBlockIdentifier): boolean =>
  (block === undefined) !== (version === undefined);
const choiceError = {
  error: 'should be given, or version instead: exactly one of the two',
  path: ['block'],
};

export const aptosBlockIdentifierSchema: z.ZodType<AptosBlockIdentifier> = namedRequest(
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

export const aptosBackfillSchema: z.ZodType<AptosBackfill> = namedRequest(
  'AptosBackfill',
  'Past blocks of an Aptos chain, by height or by ledger version, both ends included.',
  z
    .strictObject({
      streamId,
      blockFrom: wholeNumber.optional(),
      blockTo: wholeNumber.optional(),
      versionFrom: wholeNumber.optional(),
      versionTo: wholeNumber.optional(),
    })
    .refine(
      (it) => {
        const isBlocks = it.blockFrom !== undefined && it.blockTo !== undefined;
        const isVersions = it.versionFrom !== undefined && it.versionTo !== undefined;
        const given = Object.keys(it).filter((key) => key !== 'streamId').length;
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
