/** Reads, compares and removes the addresses of a stream. */
import type { Client } from '@sluice/kit';
import type { StreamSummary } from '@sluice/kit/sluice';
import type { ListedAddress } from './addressFile.ts';

type Named = Pick<StreamSummary, 'id' | 'family'>;

/** Maximum number of addresses in one call. A call is atomic. */
const ADDRESS_BATCH = 10_000;

/** Reads all addresses, keyed by their lowercase form. */
export async function readAddresses(
  api: Client,
  { id, family }: Named,
  onRead: (count: number) => void = () => {},
): Promise<Map<string, ListedAddress>> {
  const found = new Map<string, ListedAddress>();
  for await (const { address, label } of api.streams.listAddresses(id, { networkType: family })) {
    found.set(address.toLowerCase(), { address, ...(label !== undefined && { label }) });
    if (found.size % 1_000 === 0) onRead(found.size);
  }
  return found;
}

/**
 * Returns the changes from one list to the other. An address with a changed label is in `added`.
 */
export interface AddressDiff {
  added: ListedAddress[];
  removed: ListedAddress[];
}

export function compareAddresses(
  present: ReadonlyMap<string, ListedAddress>,
  wanted: readonly ListedAddress[],
): AddressDiff {
  const names = new Set(wanted.map(({ address }) => comparable(address)));
  return {
    added: wanted.filter(({ address, label }) => {
      const known = present.get(comparable(address));
      return known === undefined || (label !== undefined && label !== known.label);
    }),
    removed: [...present].filter(([name]) => !names.has(name)).map(([, each]) => each),
  };
}

/** Normalizes an address to the form that the service lists: Aptos addresses have leading zeros. */
const comparable = (address: string): string =>
  address.length === 42
    ? address.toLowerCase()
    : `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;

export async function removeAddresses(
  api: Client,
  { id, family }: Named,
  addresses: readonly ListedAddress[],
): Promise<void> {
  for (let at = 0; at < addresses.length; at += ADDRESS_BATCH) {
    const batch = addresses.slice(at, at + ADDRESS_BATCH).map(({ address }) => address);
    await api.streams.removeAddress(id, batch, { networkType: family });
  }
}
