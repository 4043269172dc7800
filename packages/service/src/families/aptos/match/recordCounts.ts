import { cutText, shortenMovePath } from '@sluice/kit/contract';
import { countKinds } from '../../../match/recordCounts.ts';
import type { AptosMatch } from './match.ts';

/**
 * Maximum length of a kind, in characters. Types include their type arguments, which may be nested
 * deeply.
 */
const MAX_KIND_LENGTH = 200;

/**
 * Counts transactions by the function that they call, and, if the stream includes events, events by
 * type.
 */
export const countAptosRecords = ({ stream, transactions }: AptosMatch) =>
  countKinds(
    transactions
      .flatMap(({ transaction: { function: called, events }, isContinued }) => [
        ...(isContinued ? [] : [called ?? 'transaction']),
        ...(stream.record.options.includeEvents ? events.map(({ type }) => type) : []),
      ])
      .map((kind) => cutText(shortenMovePath(kind), MAX_KIND_LENGTH)),
  );
