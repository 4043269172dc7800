import type { ChainFamily } from '@sluice/kit/contract';
import type { Store } from '../../../store/store.ts';
import type { StreamRecord } from '../../../store/streams/contract.ts';
import { notFound } from '../../answers.ts';

export type StreamOf<Family extends ChainFamily> = Extract<StreamRecord, { family: Family }>;

/** The stream with this id; a 404 where it is none of this family. */
export async function findStream<Family extends ChainFamily>(
  store: Store,
  id: string,
  family: Family,
): Promise<StreamOf<Family>> {
  return ofFamily(await store.readStream(id), family);
}

/** The record as one of this family; a 404 where it is none, or there is none. */
export function ofFamily<Family extends ChainFamily>(
  record: StreamRecord | undefined,
  family: Family,
): StreamOf<Family> {
  if (record?.family !== family) throw notFound('Stream');
  return record as StreamOf<Family>;
}
