/** Reads, creates and updates streams of all chain families. The service validates the fields. */
import type { Client, Networks, NetworkType } from '@sluice/kit';
import { familyOfFields } from '@sluice/kit/contract';
import type { StreamSummary } from '@sluice/kit/sluice';
import type { AnyStream, Fields } from './streamFields.ts';

type Named = Pick<StreamSummary, 'id' | 'family'>;

export const readStream = async (api: Client, { id, family }: Named): Promise<AnyStream> =>
  api.streams.get(id, { networkType: family });

export const createStream = async (api: Client, fields: Fields): Promise<AnyStream> =>
  api.streams.create({
    ...(fields as unknown as Networks[NetworkType]['fields']),
    networkType: familyOfFields(fields),
  });

export const updateStream = async (
  api: Client,
  { id, family }: Named,
  changes: Fields,
): Promise<AnyStream> => api.streams.update(id, { ...changes, networkType: family });
