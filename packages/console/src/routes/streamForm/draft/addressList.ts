/** The ENS names in address lists. */
import type { RejectedLine } from '@sluice/kit/operator';
import { recognize } from '../../../words/paste.ts';

/** File types that may contain a list, for the `accept` attribute of a file input. */
export const LIST_FILES = '.csv,.txt,.tsv,text/csv,text/plain';

/** Returns the unique ENS names at the start of rejected lines. */
export const namesIn = (rejects: readonly RejectedLine[]): string[] => [
  ...new Set(rejects.flatMap(({ text }) => nameOf(text) ?? [])),
];

function nameOf(line: string): string | undefined {
  const found = recognize(line.split(/[,;\t]/)[0] ?? '');
  return found?.kind === 'name' && found.isResolved ? found.name : undefined;
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
