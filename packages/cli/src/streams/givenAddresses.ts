/** Resolves addresses and ENS names that are passed as arguments. */
import type { SluiceClient } from '@sluice/kit/sluice';
import type { ListedAddress } from '@sluice/kit/operator';

/**
 * Resolves arguments that end with `.eth`; treats any other argument as an address. A resolved name
 * becomes the label unless `label` is given.
 *
 * @throws SluiceError if a name does not resolve.
 */
export const toListedAddresses = (
  sluice: SluiceClient,
  given: readonly string[],
  label?: string,
): Promise<ListedAddress[]> =>
  Promise.all(
    given.map(async (text) => {
      const { name, address } = /\.eth$/i.test(text)
        ? await sluice.resolveName(text)
        : { name: undefined, address: text };
      const called = label ?? name;
      return { address, ...(called !== undefined && { label: called }) };
    }),
  );
