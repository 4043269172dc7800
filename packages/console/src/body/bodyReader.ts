/** A JSON body, answered for in parts small enough to be drawn or sent to another thread. Pure. */
import { toDecodedRecords, type DecodedRecord } from './decoded.ts';
import { createNotes } from './jsonNotes.ts';
import {
  findInJson,
  isSameOpenness,
  OPEN_AT_FIRST,
  toJsonLines,
  type JsonHit,
  type JsonLines,
  type JsonRow,
  type Openness,
} from './jsonRows.ts';

/** The same questions whichever thread has read the body. */
export interface BodyReader {
  /** How many lines are open. */
  count(openness: Openness): number;
  /** Some of them. */
  lines(openness: Openness, first: number, end: number): { first: number; rows: JsonRow[] };
  /** Which line a path has; -1 where it is closed in. */
  lineOf(openness: Openness, path: string): number;
  find(text: string): { text: string; hits: JsonHit[] };
  /** Null where it is no webhook. */
  recordCount(): number | null;
  /** Some of them; none where it is no webhook. */
  records(first: number, end: number): DecodedRecord[];
}

/** What a view of the body asks before anything else, answered together with it. */
export type FirstAnswers = Partial<{ [What in keyof BodyReader]: ReturnType<BodyReader[What]> }>;

/** A screen of them. */
export const FIRST_LINES = 40;

export const firstAnswersOf = (reader: BodyReader): FirstAnswers => ({
  count: reader.count(OPEN_AT_FIRST),
  lines: reader.lines(OPEN_AT_FIRST, 0, FIRST_LINES),
});

export function createBodyReader(body: unknown): BodyReader {
  const noteOf = createNotes(body);
  let opened: { openness: Openness; lines: JsonLines } | undefined;
  let decoded: { records: DecodedRecord[] | null } | undefined;

  const linesOf = (openness: Openness): JsonLines => {
    if (opened === undefined || !isSameOpenness(opened.openness, openness)) {
      opened = { openness, lines: toJsonLines(body, openness, noteOf) };
    }
    return opened.lines;
  };

  const recordsOf = (): DecodedRecord[] | null =>
    (decoded ??= { records: toDecodedRecords(body) }).records;

  return {
    count: (openness) => linesOf(openness).count,
    lines(openness, first, end) {
      const { count, row } = linesOf(openness);
      const length = Math.max(0, Math.min(end, count) - first);
      return { first, rows: Array.from({ length }, (_, index) => row(first + index)) };
    },
    lineOf: (openness, path) => linesOf(openness).indexOf(path),
    find: (text) => ({ text, hits: findInJson(body, text) }),
    recordCount: () => recordsOf()?.length ?? null,
    records: (first, end) => recordsOf()?.slice(first, end) ?? [],
  };
}
