import * as z from 'zod';
import { component, namedRequest } from '../named.ts';
import type { RotateStreamSecret } from '../shapes.generated.ts';
import { streamStatus } from './enums.ts';
import { page, wholeNumber } from './fields.ts';

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
