/** Reads, compares and removes the addresses of a stream. */
import type { Client } from '@sluice/kit';
import type { StreamSummary } from '@sluice/kit/sluice';
import { ADDRESS_FORMATS } from '@sluice/kit/contract';
import type { ListedAddress } from '@sluice/kit/operator';

type Named = Pick<StreamSummary, 'id' | 'family'>;

/** Maximum number of addresses that one call removes. Each call is atomic. */
const ADDRESS_BATCH = 10_000;

/** Reads all addresses of a stream, keyed by their lowercase form. */
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
 * Changes that turn one list of addresses into another. An address with a new label is in `added`.
 */
export interface AddressDiff {
  added: ListedAddress[];
  removed: ListedAddress[];
}

export function compareAddresses(
  family: Named['family'],
  present: ReadonlyMap<string, ListedAddress>,
  wanted: readonly ListedAddress[],
): AddressDiff {
  const names = new Set(wanted.map(({ address }) => comparable(family, address)));
  return {
    added: wanted.filter(({ address, label }) => {
      const known = present.get(comparable(family, address));
      return known === undefined || (label !== undefined && label !== known.label);
    }),
    removed: [...present].filter(([name]) => !names.has(name)).map(([, each]) => each),
  };
}

/** Returns an address in the form in which the service lists it, but in lowercase. */
const comparable = (family: Named['family'], address: string): string =>
  ADDRESS_FORMATS[family].toAddress(address) ?? address.toLowerCase();

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
