/** Many addresses, in parts small enough to show how far it has come and to go on from there. */
import type { NetworkType } from '@sluice/kit';
import type { AddressRow } from './addressList.ts';
import { client } from './api.ts';

const PART_ROWS = 2_000;

export interface Upload {
  streamId: string;
  family: NetworkType;
  rows: readonly AddressRow[];
  /** Rows that are there already, from the beginning. */
  done?: number;
  signal?: AbortSignal;
}

/**
 * @param onProgress how many rows are there; go on from that number after an error.
 */
export async function uploadAddresses(
  { streamId, family, rows, done = 0, signal }: Upload,
  onProgress: (done: number) => void,
): Promise<void> {
  for (let at = done; at < rows.length; at += PART_ROWS) {
    const part = rows.slice(at, at + PART_ROWS);
    const labelled = part.filter(({ label }) => label !== '');
    await client.streams.addAddress(
      streamId,
      part.map(({ address }) => address),
      {
        networkType: family,
        // Aptos streams know no labels.
        ...(family === 'evm' && labelled.length > 0
          ? { labels: Object.fromEntries(labelled.map(({ address, label }) => [address, label])) }
          : {}),
        ...(signal === undefined ? {} : { signal }),
      },
    );
    onProgress(Math.min(rows.length, at + PART_ROWS));
  }
}
