import * as z from 'zod';
import { component, namedRequest, typed } from '../named.ts';
import type {
  CreateAptosStream,
  CreateEvmStream,
  RotateStreamSecret,
  UpdateAptosStream,
  UpdateEvmStream,
} from '../shapes.generated.ts';
import { streamStatus } from './enums.ts';
import { page, wholeNumber } from './fields.ts';
import { aptosFields } from '../streams/aptosFields.ts';
import { evmFields } from '../streams/evmFields.ts';
import { toCreated, toUpdated } from '../streams/field.ts';

export const createEvmStreamSchema: z.ZodType<CreateEvmStream> = namedRequest(
  'CreateEvmStream',
  'A new EVM stream.',
  z.strictObject(toCreated(evmFields)),
);

export const updateEvmStreamSchema: z.ZodType<UpdateEvmStream> = namedRequest(
  'UpdateEvmStream',
  'Any fields of a stream. Absent and null fields stay unchanged, except that null removes `oauth2` and the limits `maxInFlight`, `maxPerSecond` and `maxWebhookBytes`. An empty list clears a list.',
  typed('Optional<CreateEvmStream>', z.strictObject(toUpdated(evmFields))),
);

export const createAptosStreamSchema: z.ZodType<CreateAptosStream> = namedRequest(
  'CreateAptosStream',
  'A new Aptos stream.',
  z.strictObject(toCreated(aptosFields)),
);

export const updateAptosStreamSchema: z.ZodType<UpdateAptosStream> = namedRequest(
  'UpdateAptosStream',
  'Any fields of an Aptos stream; null and empty lists as for an EVM stream.',
  typed('Optional<CreateAptosStream>', z.strictObject(toUpdated(aptosFields))),
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

export const rotateStreamSecretSchema: z.ZodType<RotateStreamSecret> = namedRequest(
  'RotateStreamSecret',
  'Options for rotating a secret.',
  z.strictObject({
    overlapSeconds: wholeNumber
      .refine((it) => it <= MAX_OVERLAP_SECONDS, {
        error: `should be at most ${MAX_OVERLAP_SECONDS}, which is 30 days`,
      })
      .optional()
      .describe(
        'Seconds for which the old secrets also sign, at most 30 days; 0 to end them at once. Default: one day.',
      ),
  }),
);
