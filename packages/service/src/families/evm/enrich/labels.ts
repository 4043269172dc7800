/** Adds the labels of the addresses in `matched`. */
import { orOutage } from '../../../enrich/outage.ts';
import type { Store } from '../../../store/store.ts';
import type { BodyTail } from './records.ts';

type Matching = Pick<BodyTail, 'matched'>;

/** Maximum number of addresses whose labels are read together. */
const BATCH = 1_000;
/** Maximum growth of an entry: 64 characters of up to 4 bytes, in quotes instead of `null`. */
const LABEL_BYTES = 64 * 4;

const addressesOf = ({ matched = [] }: Matching): string[] =>
  matched.flatMap(({ address }) => address ?? []);

/** Returns whether the ledger may have labels for the body. */
export const mayHaveLabels = (tail: Matching): boolean => addressesOf(tail).length > 0;

/** Returns the maximum number of bytes that {@link addLabels} adds. */
export const maxLabelBytes = (tail: Matching): number => addressesOf(tail).length * LABEL_BYTES;

/**
 * Adds the labels in place. A stream that is not in the ledger has no labels.
 *
 * @throws RetryableError if the ledger is unavailable
 */
export async function addLabels(
  tail: Matching,
  streamId: string,
  store: Pick<Store, 'listLabels'>,
): Promise<void> {
  const addresses = streamId === '' ? [] : addressesOf(tail);
  const labels = new Map<string, string>();
  for (let start = 0; start < addresses.length; start += BATCH) {
    const batch = addresses.slice(start, start + BATCH);
    const found = await orOutage(store.listLabels(streamId, batch));
    for (const [address, label] of Object.entries(found)) labels.set(address, label);
  }
  for (const entry of tail.matched ?? []) entry.label = labels.get(entry.address ?? '') ?? null;
}
