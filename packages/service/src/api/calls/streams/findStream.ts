import type { ChainFamily } from '@sluice/kit/contract';
import type { Store } from '../../../store/store.ts';
import type { StreamRecord } from '../../../store/streams/contract.ts';
import { notFound } from '../../httpErrors.ts';

export type StreamOf<Family extends ChainFamily> = Extract<StreamRecord, { family: Family }>;

/** Returns the stream with this id; throws a 404 if the family has no such stream. */
export async function findStream<Family extends ChainFamily>(
  store: Store,
  id: string,
  family: Family,
): Promise<StreamOf<Family>> {
  return requireFamily(await store.readStream(id), family);
}

/** Returns the record; throws a 404 if it is missing or belongs to the other family. */
export function requireFamily<Family extends ChainFamily>(
  record: StreamRecord | undefined,
  family: Family,
): StreamOf<Family> {
  if (record?.family !== family) throw notFound('Stream');
  return record as StreamOf<Family>;
}
