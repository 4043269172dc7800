/**
 * Plans a search with the addresses of the streams: calls `plan` once to learn which lists it
 * needs, and again with these lists.
 */
import type { LogSearch } from '../match/logSearch.ts';
import { unpackAddresses } from '../store/addresses/packedAddresses.ts';
import type { Store } from '../store/store.ts';

/** Returns the addresses of a stream, or `many` if there are too many to list. */
export type ListStreamAddresses = (streamId: string) => readonly string[] | 'many';

/**
 * Maximum number of addresses in a search, for all of its streams together. Above it, blocks are
 * searched by event alone, which takes fewer queries.
 */
export const MAX_LISTED = 10_000;

export async function searchStreams(
  store: Pick<Store, 'readAddresses'>,
  plan: (addressesOf: ListStreamAddresses) => LogSearch | undefined,
): Promise<LogSearch | undefined> {
  const listed = new Map<string, readonly string[] | 'many'>();
  plan((id) => {
    listed.set(id, 'many');
    return 'many';
  });
  let room = MAX_LISTED;
  for (const id of listed.keys()) {
    const addresses = await listAddresses(store, id, room);
    listed.set(id, addresses);
    if (addresses !== 'many') room -= addresses.length;
  }
  return plan((id) => listed.get(id) ?? 'many');
}

/** Returns the addresses of a stream, or `many` if the stream has more than `most`. */
export async function listAddresses(
  store: Pick<Store, 'readAddresses'>,
  streamId: string,
  most: number,
): Promise<string[] | 'many'> {
  const found: string[] = [];
  let next: string | undefined;
  do {
    const page = await store.readAddresses(streamId, next);
    found.push(...unpackAddresses(page.addresses));
    if (found.length > most) return 'many';
    next = page.next;
  } while (next !== undefined);
  return found;
}
