/** Addresses as arguments, where people also give names of ENS. */
import type { SluiceClient } from '@sluice/kit/sluice';
import type { ListedAddress } from './addressFile.ts';

/**
 * Each with its address; a name that was looked up is its label where none is given.
 *
 * @throws SluiceError where a name stands for no address
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
