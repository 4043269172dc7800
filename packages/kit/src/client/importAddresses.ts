/** Adds many addresses to a stream in small parts, so that an import can be resumed. */
import type { Calls } from './calls.ts';
import { ADDRESS_CALLS } from '../families/addressCalls.ts';
import type { ChainFamily } from '../contract/shapes.generated.ts';
import type { CallOptions } from './request.ts';

/** Options of {@link SluiceCalls.importAddresses}. */
export interface ImportAddressesOptions {
  readonly streamId: string;
  readonly family: ChainFamily;
  /**
   * Addresses in hex, in any casing. A label has at most 64 characters; an empty one is ignored.
   */
  readonly addresses: readonly {
    readonly address: string;
    readonly label?: string | undefined;
  }[];
  /** Number of addresses at the beginning of the list to skip. Default: 0. */
  readonly from?: number | undefined;
  /**
   * Called after each part with the number of addresses processed, including skipped ones. To
   * resume after an error, pass the last number as `from`.
   */
  readonly onProgress?: ((done: number) => void) | undefined;
}

/** Target duration of a part, so that progress is shown several times per second. */
const PART_MS = 100;
const FIRST_PART = 500;
const MIN_PART = 100;
/** Maximum number of addresses per part, also if the service responds sooner. */
const MAX_PART = 5_000;

export async function importAddresses(
  { one }: Calls,
  { streamId, family, addresses, from = 0, onProgress }: ImportAddressesOptions,
  options?: CallOptions,
): Promise<void> {
  const { route, toAddress } = ADDRESS_CALLS[family];
  let size = FIRST_PART;
  for (let at = from; at < addresses.length;) {
    const part = addresses.slice(at, at + size);
    const began = performance.now();
    // Adding an address again has no effect, so a part may be sent twice.
    const toCall = () => ({ route, path: { id: streamId }, body: toBody(), repeatable: true });
    const toBody = () => {
      const address = part.map((each) => toAddress(each.address));
      const labels: Record<string, string> = {};
      part.forEach(({ label }, n) => label && (labels[address[n]!] = label));
      return Object.keys(labels).length > 0 ? { address, labels } : { address };
    };
    await one(toCall, options);
    const wanted = (size * PART_MS) / Math.max(1, performance.now() - began);
    at += part.length;
    onProgress?.(at);
    size = Math.round(Math.min(MAX_PART, 2 * size, Math.max(MIN_PART, wanted)));
  }
}
