import type { Context } from 'hono';
import type { ChainFamily } from '@sluice/kit/contract';
import type { Store, StreamRecord } from '../../store/store.ts';
import { notFound, readId } from '../answers.ts';

export type StreamOf<Family extends ChainFamily> = Extract<StreamRecord, { family: Family }>;

/** The stream of the path's `{id}`; a 404 where it is none of this family. */
export async function findStream<Family extends ChainFamily>(
  store: Store,
  context: Context,
  family: Family,
): Promise<StreamOf<Family>> {
  return ofFamily(await store.readStream(readId(context, 'stream')), family);
}

/** The record as one of this family; a 404 where it is none, or there is none. */
export function ofFamily<Family extends ChainFamily>(
  record: StreamRecord | undefined,
  family: Family,
): StreamOf<Family> {
  if (record?.family !== family) throw notFound('Stream');
  return record as StreamOf<Family>;
}
