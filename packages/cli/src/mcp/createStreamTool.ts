/** Creates streams for tools. */
import { familyOfFields } from '@sluice/kit/contract';
import * as z from 'zod';
import type { Connection } from '../connection/connection.ts';
import { createStream } from '../streams/saveStream.ts';
import type { Fields } from '../streams/streamFields.ts';
import { withMaskedHeaders } from './maskedHeaders.ts';

export const addresses = z
  .array(z.string().max(100))
  .max(1_000)
  .default([])
  .describe('Addresses to watch, at most 1,000.');

/** Creates a stream with its addresses. */
export async function createWithAddresses(
  fields: Fields,
  addresses: readonly string[],
  { api, sluice }: Connection,
): Promise<unknown> {
  const stream = await createStream(api, fields);
  if (addresses.length > 0) {
    const listed = addresses.map((address) => ({ address }));
    await sluice.importAddresses({
      streamId: stream.id,
      family: familyOfFields(fields),
      addresses: listed,
    });
  }
  return { ...withMaskedHeaders(stream), amountOfAddresses: addresses.length };
}
