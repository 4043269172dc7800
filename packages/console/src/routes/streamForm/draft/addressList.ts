/** Samples of address lists, and the ENS names in lists. */
import type { NetworkType } from '@sluice/kit';
import type { RejectedLine } from '@sluice/kit/contract';
import { recognize } from '../../../words/paste.ts';

/** File types that may contain a list, for the `accept` attribute of a file input. */
export const LIST_FILES = '.csv,.txt,.tsv,text/csv,text/plain';

/** Sample lists that users can download and edit. */
export const SAMPLE_LISTS: Readonly<Record<NetworkType, string>> = {
  evm: `address,label
0x28C6c06298d514Db089934071355E5743bf21d60,binance-14
0xdAC17F958D2ee523a2206206994597C13D831ec7,"Tether USD, the contract"
# Labels are optional. Lines that start with # are ignored.
0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48
`,
  aptos: `address,label
0x1,framework
0x3,"Token objects, legacy"
# Labels are optional. Lines that start with # are ignored.
0x4
`,
};

/** Returns the unique ENS names at the start of rejected lines. */
export const namesIn = (rejects: readonly RejectedLine[]): string[] => [
  ...new Set(rejects.flatMap(({ text }) => nameOf(text) ?? [])),
];

function nameOf(line: string): string | undefined {
  const found = recognize(line.split(/[,;\t]/)[0] ?? '');
  return found?.kind === 'ens-name' ? found.name : undefined;
}

/**
 * Replaces an ENS name at the start of a line with `address`, in all lines. The name becomes the
 * label of each line without one.
 */
export const withAddressOf = (text: string, name: string, address: string): string =>
  text
    .split('\n')
    .map((line) => {
      const [first = '', ...rest] = line.split(/[,;\t]/);
      if (first.trim().toLowerCase() !== name) return line;
      const label = rest.join(',').trim();
      return `${address}, ${label === '' ? name : label}`;
    })
    .join('\n');
