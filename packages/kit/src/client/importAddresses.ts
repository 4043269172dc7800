/** Many addresses into a stream: in parts, each short enough to tell of, and to go on behind. */
import { aptosAddress, lowerAddress } from './compatible/arguments.ts';
import type { Calls } from './calls.ts';
import type { NetworkType } from './client.ts';
import { ROUTES } from '../contract/routes.generated.ts';
import type { CallOptions } from './request.ts';

/** Which addresses {@link SluiceClient.importAddresses} adds, and to which stream. */
export interface AddressImport {
  readonly streamId: string;
  readonly family: NetworkType;
  /** Hex in any case. A label has 1 to 64 characters. */
  readonly addresses: readonly {
    readonly address: string;
    readonly label?: string | undefined;
  }[];
  /** So many of them are in already, from the first on. Default 0. */
  readonly from?: number | undefined;
  /** Hears after each part how many are in. To go on after an error, pass the last one as `from`. */
  readonly onProgress?: ((done: number) => void) | undefined;
}

/** What a part should take, so that progress is seen several times a second. */
const PART_MS = 100;
const FIRST_PART = 500;
const SMALLEST_PART = 100;
/** More would not be one transaction of the service, and what a crash cuts off would have to be undone. */
const LARGEST_PART = 5_000;

export async function importAddresses(
  { one }: Calls,
  { streamId, family, addresses, from = 0, onProgress }: AddressImport,
  options?: CallOptions,
): Promise<void> {
  const { route, toAddress } = NETWORKS[family];
  let size = FIRST_PART;
  for (let at = from; at < addresses.length;) {
    const part = addresses.slice(at, at + size);
    const began = performance.now();
    // Addresses that are in stay in, so a part may be sent twice.
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
    size = Math.round(Math.min(LARGEST_PART, 2 * size, Math.max(SMALLEST_PART, wanted)));
  }
}

const NETWORKS = {
  evm: { route: ROUTES.addEvmAddresses, toAddress: lowerAddress },
  aptos: { route: ROUTES.addAptosAddresses, toAddress: aptosAddress },
} as const;
