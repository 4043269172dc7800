/**
 * Queries a JSON body. The results are small enough to render or to send between threads.
 */
import type { DecodedRecord } from './decodedRecord.ts';
import { toDecodedRecords, toMatchedAddresses } from '../families/body.ts';
import type { MatchedAddress } from './matchedAddress.ts';
import { createNotes } from './jsonNotes.ts';
import {
  findInJson,
  isSameOpenState,
  OPEN_AT_FIRST,
  toJsonLines,
  type JsonHit,
  type JsonLines,
  type JsonRow,
  type OpenState,
} from './jsonRows.ts';

/** Queries on a body, on the page or in the worker. */
export interface BodyReader {
  /** Returns the number of visible lines. */
  count(openState: OpenState): number;
  /** Returns the visible lines from `first` up to, but not including, `end`. */
  lines(openState: OpenState, first: number, end: number): { first: number; rows: JsonRow[] };
  /** Returns the visible line of a path, or -1 if there is none. */
  lineOf(openState: OpenState, path: string): number;
  find(text: string): { text: string; hits: JsonHit[] };
  /** Returns the number of records; null if the body is not a webhook. */
  recordCount(): number | null;
  /**
   * Returns the records from `first` up to, but not including, `end`; empty if the body is not a
   * webhook.
   */
  records(first: number, end: number): DecodedRecord[];
  /** Returns the matched addresses; empty if the stream does not include them. */
  matched(): MatchedAddress[];
}

/** Results of the first queries of a view, which the worker returns instead of a long body. */
export type FirstAnswers = Partial<{ [What in keyof BodyReader]: ReturnType<BodyReader[What]> }>;

/** Number of lines in the first results, about one screen. */
export const FIRST_LINES = 40;

export const firstAnswersOf = (reader: BodyReader): FirstAnswers => ({
  count: reader.count(OPEN_AT_FIRST),
  lines: reader.lines(OPEN_AT_FIRST, 0, FIRST_LINES),
});

export function createBodyReader(body: unknown): BodyReader {
  const noteOf = createNotes(body);
  let opened: { openState: OpenState; lines: JsonLines } | undefined;
  let decoded: { records: DecodedRecord[] | null } | undefined;

  const linesOf = (openState: OpenState): JsonLines => {
    if (opened === undefined || !isSameOpenState(opened.openState, openState)) {
      opened = { openState, lines: toJsonLines(body, openState, noteOf) };
    }
    return opened.lines;
  };

  const recordsOf = (): DecodedRecord[] | null =>
    (decoded ??= { records: toDecodedRecords(body) }).records;

  return {
    count: (openState) => linesOf(openState).count,
    lines(openState, first, end) {
      const { count, row } = linesOf(openState);
      const length = Math.max(0, Math.min(end, count) - first);
      return { first, rows: Array.from({ length }, (_, index) => row(first + index)) };
    },
    lineOf: (openState, path) => linesOf(openState).indexOf(path),
    find: (text) => ({ text, hits: findInJson(body, text) }),
    recordCount: () => recordsOf()?.length ?? null,
    records: (first, end) => recordsOf()?.slice(first, end) ?? [],
    matched: () => toMatchedAddresses(body),
  };
}
