/** Reads, creates and updates streams of both chain families. The service validates the fields. */
import type { AptosStreamFields, Client, StreamFields } from '@sluice/kit';
import type { StreamSummary } from '@sluice/kit/sluice';
import { type AnyStream, type Fields, familyOfFields } from './streamFields.ts';

type Named = Pick<StreamSummary, 'id' | 'family'>;

export const readStream = async (api: Client, { id, family }: Named): Promise<AnyStream> =>
  api.streams.get(id, { networkType: family });

export const createStream = async (api: Client, fields: Fields): Promise<AnyStream> =>
  familyOfFields(fields) === 'aptos'
    ? api.streams.create({ networkType: 'aptos', ...asAptosFields(fields) })
    : api.streams.create(asEvmFields(fields));

export const updateStream = async (
  api: Client,
  { id, family }: Named,
  changes: Fields,
): Promise<AnyStream> =>
  family === 'aptos'
    ? api.streams.update(id, { networkType: 'aptos', ...asAptosFields(changes) })
    : api.streams.update(id, asEvmFields(changes));

const asEvmFields = (fields: Fields): StreamFields => fields as unknown as StreamFields;
const asAptosFields = (fields: Fields): AptosStreamFields => fields as unknown as AptosStreamFields;
