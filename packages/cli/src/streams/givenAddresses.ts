/** Resolves addresses and ENS names that are passed as arguments. */
import type { SluiceClient } from '@sluice/kit/sluice';
import type { ListedAddress } from '@sluice/kit/operator';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * Resolves arguments that end with `.eth`; treats any other argument as an address. A resolved name
 * becomes the label unless `label` is given, and a note names its address, because a resolver may
 * return another address each time.
 *
 * @throws SluiceError if a name does not resolve.
 */
export const toListedAddresses = (
  sluice: SluiceClient,
  given: readonly string[],
  terminal: Terminal,
  label?: string,
): Promise<ListedAddress[]> =>
  Promise.all(
    given.map(async (text) => {
      if (!/\.eth$/i.test(text)) return { address: text, ...(label !== undefined && { label }) };
      const { name, address } = await sluice.resolveName(text);
      terminal.note(`${name} is ${address}.`);
      return { address, label: label ?? name };
    }),
  );
