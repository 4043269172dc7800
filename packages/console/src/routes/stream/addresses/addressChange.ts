/** Reads and changes many addresses of a stream, in parts that do not block the page. */
import { PAGE_LIMIT } from '@sluice/kit/contract';
import { ADDRESS_HEADER, toAddressRows } from '@sluice/kit/operator';
import { isSluiceError, type StreamSummary, type WatchedAddress } from '@sluice/kit/sluice';
import { client } from '../../../data/client.ts';
import { sluice } from '../../../data/queries/service.ts';
import type { TaskStep, Task } from '../../../ui/task.tsx';
import { formatQuantity } from '../../../ui/text/format.ts';

export type LabeledRow = Pick<WatchedAddress, 'address' | 'label'>;
/** The stream whose addresses are read or changed. */
export type WatchingStream = Pick<StreamSummary, 'id' | 'family' | 'amountOfAddresses'>;

/**
 * Maximum number of addresses per call. Larger calls would block the page noticeably, because the
 * browser computes the checksums of the addresses.
 */
const PART = 500;

const amount = (count: number): string => formatQuantity(count, 'address', 'addresses');

/**
 * Reads all addresses that match a search, page by page.
 * @param find the search text; an empty string matches all addresses.
 */
export async function readMatching(
  { id }: Pick<WatchingStream, 'id'>,
  find: string,
  onPage: (page: readonly WatchedAddress[]) => void,
  { signal, onProgress }: TaskStep,
): Promise<void> {
  let read = 0;
  let cursor: string | undefined;
  do {
    const page = await sluice.listAddresses(
      id,
      { limit: PAGE_LIMIT, cursor, ...(find !== '' && { find }) },
      { signal },
    );
    onPage(page.result);
    read += page.result.length;
    onProgress(read);
    ({ cursor } = page);
  } while (cursor !== undefined);
}

/**
 * Returns the given addresses that the stream already has. Reads all addresses or searches for
 * each, whichever needs fewer requests.
 */
export async function readPresent(
  stream: WatchingStream,
  rows: readonly LabeledRow[],
  step: TaskStep,
): Promise<ReadonlyMap<string, LabeledRow>> {
  const present = new Map<string, LabeledRow>();
  const keep = (page: readonly LabeledRow[]): void =>
    page.forEach((row) => {
      if (wanted.has(row.address)) present.set(row.address, row);
    });
  const wanted = new Set(rows.map(({ address }) => address));
  if (wanted.size * PAGE_LIMIT > stream.amountOfAddresses) {
    await readMatching(stream, '', keep, { ...step, onProgress: () => {} });
    return present;
  }
  for (const find of wanted) {
    keep((await sluice.listAddresses(stream.id, { find, limit: 1 }, step)).result);
  }
  return present;
}

/** Removes addresses. Skips addresses that another client has removed in the meantime. */
async function remove(
  stream: WatchingStream,
  rows: readonly LabeledRow[],
  step: TaskStep,
): Promise<void> {
  const call = ({ id, family }: WatchingStream, part: readonly LabeledRow[]) =>
    client.streams.removeAddress(
      id,
      part.map(({ address }) => address),
      { networkType: family },
    );
  for (let at = 0; at < rows.length; at += PART) {
    step.signal.throwIfAborted();
    const part = rows.slice(at, at + PART);
    try {
      await call(stream, part);
    } catch (error) {
      // If one of the addresses is missing, the call removes none.
      if (!isSluiceError(error, 'not_found')) throw error;
      const present = await readPresent(stream, part, step);
      if (present.size > 0) await call(stream, [...present.values()]);
    }
    step.onProgress(at + part.length);
  }
}

/**
 * Adds addresses and sets their labels. An empty label removes the current label; undefined keeps
 * it.
 */
async function add(
  { id, family }: WatchingStream,
  rows: readonly LabeledRow[],
  step: TaskStep,
): Promise<void> {
  for (let at = 0; at < rows.length; at += PART) {
    step.signal.throwIfAborted();
    const part = rows.slice(at, at + PART);
    await client.streams.addAddress(
      id,
      part.map(({ address }) => address),
      {
        networkType: family,
        labels: Object.fromEntries(
          part.flatMap(({ address, label }) => (label === undefined ? [] : [[address, label]])),
        ),
      },
    );
    step.onProgress(at + part.length);
  }
}

/** Sets the label of one address; an empty label removes the current one. */
export const setLabel = (stream: WatchingStream, row: LabeledRow): Promise<void> =>
  add(stream, [row], { signal: new AbortController().signal, onProgress: () => {} });

/** Returns the rows that may have changed, including the part in which the task stopped. */
const applied = (rows: readonly LabeledRow[], done: number): LabeledRow[] =>
  rows.slice(0, done + PART);

async function withRefresh(change: Promise<void>, onChange: () => Promise<void>): Promise<void> {
  try {
    await change;
  } finally {
    await onChange();
  }
}

/** @param onChange called at the end, also after an error. */
export function removalTask(
  stream: WatchingStream,
  rows: readonly LabeledRow[],
  onChange: () => Promise<void>,
): Task {
  return {
    doing: 'Removing addresses',
    total: rows.length,
    work: (step) => withRefresh(remove(stream, rows, step), onChange),
    did: () => `${amount(rows.length)} removed.`,
    rest: (done) => removalTask(stream, rows.slice(done), onChange),
    undo: (done) => restoreTask(stream, applied(rows, done), onChange),
  };
}

function restoreTask(
  stream: WatchingStream,
  rows: readonly LabeledRow[],
  onChange: () => Promise<void>,
): Task {
  return {
    doing: 'Restoring addresses',
    total: rows.length,
    work: (step) => withRefresh(add(stream, rows, step), onChange),
    did: () => `${amount(rows.length)} restored.`,
    rest: (done) => restoreTask(stream, rows.slice(done), onChange),
  };
}

/**
 * Returns what an import changes: the new addresses, and the previous rows of the addresses whose
 * labels change.
 * @param before the imported addresses that the stream had before, with their labels.
 */
function importChanges(
  before: ReadonlyMap<string, LabeledRow>,
  rows: readonly LabeledRow[],
): { added: LabeledRow[]; relabeled: LabeledRow[] } {
  const added = rows.filter(({ address }) => !before.has(address));
  const relabeled = rows.flatMap(({ address, label = '' }) => {
    const row = before.get(address);
    // A row without a label keeps the current one.
    return row === undefined || label === '' || label === row.label
      ? []
      : [{ address, label: row.label ?? '' }];
  });
  return { added, relabeled };
}

export interface ImportedAddresses {
  /** The imported addresses that the stream had before, with their labels. */
  before: ReadonlyMap<string, LabeledRow>;
  rows: readonly LabeledRow[];
  /** Number of rows that were imported. */
  done: number;
}

/**
 * Returns a finished task for an import that has ended, so that it can be undone.
 * @param stream the stream as it was before the import.
 */
export function importedTask(
  stream: WatchingStream,
  { before, rows, done }: ImportedAddresses,
  onChange: () => Promise<void>,
): Task {
  const { added, relabeled } = importChanges(before, rows);
  const takeBack = async (step: TaskStep): Promise<void> => {
    // Some addresses may not have been added, because the import may have stopped.
    const after = { ...stream, amountOfAddresses: stream.amountOfAddresses + added.length };
    const present = await readPresent(after, added, step);
    await remove(stream, [...present.values()], step);
    await add(stream, relabeled, { ...step, onProgress: () => {} });
  };
  const undo: Task = {
    doing: 'Undoing the import',
    total: rows.length,
    work: (step) => withRefresh(takeBack(step), onChange),
    did: () => 'Import undone.',
  };
  return {
    doing: 'Importing addresses',
    total: rows.length,
    work: async () => {},
    did: () => `${amount(done)} imported.`,
    undo: () => undo,
  };
}

/** Exports the addresses that match a search to a CSV file that can be imported again. */
export const exportTask = (
  stream: WatchingStream,
  find: string,
  onFile: (file: Blob) => void,
): Task => ({
  doing: 'Exporting addresses',
  total: find === '' ? stream.amountOfAddresses : undefined,
  async work(step) {
    // Creates a blob per page, because browsers can move blobs from memory to disk.
    const parts = [new Blob([ADDRESS_HEADER])];
    const keep = (page: readonly WatchedAddress[]): void => {
      parts.push(new Blob([toAddressRows(page)]));
    };
    await readMatching(stream, find, keep, step);
    onFile(new Blob(parts, { type: 'text/csv' }));
  },
});
