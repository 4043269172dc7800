import * as z from 'zod';
import { namedRequest, typed } from '../named.ts';
import type { AddDestination, UpdateDestination } from '../shapes.generated.ts';
import { toCreated, toUpdated } from '../streams/field.ts';
import { additionalFields } from '../streams/sharedFields.ts';

export const addDestinationSchema: z.ZodType<AddDestination> = namedRequest(
  'AddDestination',
  'An additional destination of a stream.',
  z.strictObject(toCreated(additionalFields)),
);

export const updateDestinationSchema: z.ZodType<UpdateDestination> = namedRequest(
  'UpdateDestination',
  'Any fields of a destination. Absent and null fields stay unchanged, except that null removes `oauth2` and the limits `maxInFlight`, `maxPerSecond` and `timeoutSeconds`.',
  typed('Optional<AddDestination>', z.strictObject(toUpdated(additionalFields))),
);
