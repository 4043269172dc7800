import * as z from 'zod';
import { component, sent, typed } from '../named.ts';
import type {
  CreateAptosStream,
  CreateEvmStream,
  RotateStreamSecret,
  UpdateAptosStream,
  UpdateEvmStream,
} from '../shapes.generated.ts';
import { streamStatus } from './enums.ts';
import { given, page, wholeNumber } from './fields.ts';
import { aptosFields, evmFields } from './streamFields.ts';

export const createEvmStreamSchema: z.ZodType<CreateEvmStream> = sent(
  'CreateEvmStream',
  'What a stream watches and where it delivers.',
  z.strictObject(evmFields),
);

export const updateEvmStreamSchema: z.ZodType<UpdateEvmStream> = sent(
  'UpdateEvmStream',
  'Any part of a stream; what is absent stays, and so does what is null, but for `maxInFlight` and `maxPerSecond`, where null is no limit. An empty list takes a list away.',
  typed(
    'Optional<CreateEvmStream>',
    z.strictObject({
      ...evmFields,
      webhookUrl: given(evmFields.webhookUrl),
      description: given(evmFields.description),
      chainIds: given(evmFields.chainIds),
    }),
  ),
);

export const createAptosStreamSchema: z.ZodType<CreateAptosStream> = sent(
  'CreateAptosStream',
  'What an Aptos stream watches and where it delivers.',
  z.strictObject(aptosFields),
);

export const updateAptosStreamSchema: z.ZodType<UpdateAptosStream> = sent(
  'UpdateAptosStream',
  'Any part of an Aptos stream; null and empty lists as of an EVM stream.',
  typed(
    'Optional<CreateAptosStream>',
    z.strictObject({
      ...aptosFields,
      webhookUrl: given(aptosFields.webhookUrl),
      description: given(aptosFields.description),
      tag: given(aptosFields.tag),
      network: given(aptosFields.network),
    }),
  ),
);

export const streamStatusSchema = component(
  'SetStreamStatus',
  z.strictObject({
    status: z.enum(['active', 'paused', 'error'], {
      error: 'should be one of active, paused, error (terminated is set by the service)',
    }),
  }),
);

export const listStreamsQuerySchema = z.object({
  ...page,
  status: streamStatus.optional().describe('Only streams with this status.'),
});

const MAX_OVERLAP_SECONDS = 30 * 24 * 3_600;

export const rotateStreamSecretSchema: z.ZodType<RotateStreamSecret> = sent(
  'RotateStreamSecret',
  'How a secret is replaced.',
  z.strictObject({
    overlapSeconds: wholeNumber
      .refine((it) => it <= MAX_OVERLAP_SECONDS, {
        error: `should be at most ${MAX_OVERLAP_SECONDS}, which is 30 days`,
      })
      .optional()
      .describe(
        'How long the old secrets sign beside the new one, at most 30 days; 0: not at all. Default: a day.',
      ),
  }),
);
