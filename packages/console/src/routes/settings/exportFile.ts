/** All streams with their addresses as one file, and such a file back into streams. */
import type { AptosStream, Stream } from '@sluice/kit';
import type { NetworkType } from '@sluice/kit';
import type { AddressRow } from '../streamForm/draft/addressList.ts';
import { client, sluice } from '../../data/queries/service.ts';
import { toAptosFields, toDraft, toEvmFields } from '../streamForm/draft/fields.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';

export interface ExportedStream {
  family: NetworkType;
  /** As the compatible API answers it. */
  stream: Stream | AptosStream;
  addresses: AddressRow[];
}

export interface ExportFile {
  format: 'sluice-streams';
  version: 1;
  streams: ExportedStream[];
}

/** @param onProgress how many streams have been read. */
export async function readExport(onProgress: (count: number) => void): Promise<ExportFile> {
  const streams: ExportedStream[] = [];
  for (const family of ['evm', 'aptos'] as const) {
    for await (const stream of client.streams.list({ networkType: family })) {
      const addresses: AddressRow[] = [];
      for await (const row of client.streams.listAddresses(stream.id, { networkType: family })) {
        addresses.push({ address: row.address, label: row.label ?? '' });
      }
      streams.push({ family, stream, addresses });
      onProgress(streams.length);
    }
  }
  return { format: 'sluice-streams', version: 1, streams };
}

/** @throws Error that says what the file is not, for people. */
export function parseExport(text: string): ExportFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error('The file is no JSON', { cause: error });
  }
  const file = value as Partial<ExportFile> | null;
  if (file?.format !== 'sluice-streams' || !Array.isArray(file.streams)) {
    throw new Error('The file is no export of Sluice: it has no "format": "sluice-streams"');
  }
  if (file.version !== 1) {
    throw new Error(`The file is of version ${String(file.version)}; this console reads 1`);
  }
  return file as ExportFile;
}

/** Makes it anew: its id is another. */
export async function importStream({ family, stream, addresses }: ExportedStream): Promise<void> {
  const draft: StreamDraft = toDraft(stream);
  const { id } =
    family === 'evm'
      ? await client.streams.create({ ...toEvmFields(draft), ...keptOf(stream as Stream) })
      : await client.streams.create({ ...toAptosFields(draft), networkType: 'aptos' });
  await sluice.importAddresses({ streamId: id, family, addresses });
}

/** What the form does not show, and would lose. */
const keptOf = ({ triggers, getNativeBalances, advancedOptions, topic0 }: Stream) => ({
  triggers,
  getNativeBalances,
  advancedOptions,
  topic0,
});
