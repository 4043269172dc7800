/** Describes what an Aptos stream sends. */
import type { SentWords } from '../sentWords.ts';
import { linesOf } from '../../routes/streamForm/draft/draft.ts';
import { formatList } from '../../ui/text/list.ts';

/** Returns the last part of a Move path, such as `transfer`. */
const nameOfPath = (path: string): string => path.split('<')[0]!.split('::').at(-1)!;

export const describeAptosSent: SentWords = ({ functions, moveEvents }) => {
  const [called, emitted] = [functions, moveEvents].map((text) =>
    formatList([...new Set(linesOf(text).map(nameOfPath))]),
  );
  const records = [
    ...(called === '' ? [] : [`transactions that call ${called}`]),
    ...(emitted === '' ? [] : [`transactions with the event ${emitted}`]),
  ];
  return {
    records: records.length === 0 ? ['all transactions'] : records,
    filters: [],
    values: [],
    additionally: [],
  };
};
