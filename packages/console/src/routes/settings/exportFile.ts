/** Exports all streams with their addresses to a file, and imports them from such a file. */
import type { NetworkType } from '@sluice/kit';
import { CHAIN_FAMILIES } from '@sluice/kit/contract';
import type { ListedAddress } from '@sluice/kit/operator';
import { client } from '../../data/client.ts';
import { sluice } from '../../data/queries/service.ts';
import type { AnyStream, AnyStreamFields } from '../../data/queries/streams.ts';
import { FIELDS } from '../streamForm/draft/plainFields.ts';

export interface ExportedStream {
  family: NetworkType;
  /** The stream as the compatible API returns it. */
  stream: AnyStream;
  addresses: ListedAddress[];
}

export interface ExportFile {
  format: 'sluice-streams';
  version: 1;
  streams: ExportedStream[];
}

/** @param onProgress receives the number of streams read so far. */
export async function readExport(onProgress: (count: number) => void): Promise<ExportFile> {
  const streams: ExportedStream[] = [];
  for (const family of CHAIN_FAMILIES) {
    for await (const stream of client.streams.list({ networkType: family })) {
      const addresses: ListedAddress[] = [];
      for await (const row of client.streams.listAddresses(stream.id, { networkType: family })) {
        addresses.push({ address: row.address, label: row.label ?? '' });
      }
      streams.push({ family, stream, addresses });
      onProgress(streams.length);
    }
  }
  return { format: 'sluice-streams', version: 1, streams };
}

/**
 * @throws Error with a user-facing message if the text is not JSON or not an export, or if the
 * export has an unsupported version.
 */
export function parseExport(text: string): ExportFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error('The file is not valid JSON.', { cause: error });
  }
  const file = value as Partial<ExportFile> | null;
  if (file?.format !== 'sluice-streams' || !Array.isArray(file.streams)) {
    throw new Error(
      'The file is not a Sluice export. It needs "format": "sluice-streams" and a list of "streams".',
    );
  }
  if (file.version !== 1) {
    throw new Error(
      `The file has version ${String(file.version)}. This console supports version 1.`,
    );
  }
  return file as ExportFile;
}

/**
 * Creates a stream of the file with its addresses, under a new id.
 * @throws Error with a user-facing message if the stream needs a secret that the file lacks.
 */
export async function importStream({ family, stream, addresses }: ExportedStream): Promise<void> {
  if (stream.oauth2) {
    throw new Error(
      'This stream has OAuth 2.0 credentials, whose client secret is not in the file. Create it under New stream.',
    );
  }
  const fields = Object.fromEntries(
    Object.entries(stream).filter(
      ([name]) => FIELDS[name] !== undefined && !FIELDS[name].isReadOnly,
    ),
  );
  const { id } = await client.streams.create({
    ...(fields as unknown as AnyStreamFields),
    networkType: family,
  });
  await sluice.importAddresses({ streamId: id, family, addresses });
}
