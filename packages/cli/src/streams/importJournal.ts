/** What an import has done so far, in a file: written whole after each step, so that a kill loses none. */
import { existsSync, readFileSync } from 'node:fs';
import type { NetworkType } from '@sluice/kit';
import { writePrivately } from '../connection/contexts.ts';
import { CommandError } from '../terminal/errors.ts';

/** A stream of ours that takes the place of a hosted one. */
export interface ImportedStream {
  id: string;
  family: NetworkType;
  /** How many have arrived. */
  addresses: number;
  /** Where the hosted list goes on; undefined at its start, and at its end. */
  cursor?: string | undefined;
  done: boolean;
}

export interface ImportJournal {
  find(hostedId: string): ImportedStream | undefined;
  /** Whether a stream of ours stands for a hosted one already. */
  has(id: string): boolean;
  save(hostedId: string, imported: ImportedStream): ImportedStream;
}

interface Journal {
  from: string;
  streams: Record<string, ImportedStream>;
}

/** @throws CommandError `invalid_file` for the journal of another service. */
export function openJournal(path: string, from: string): ImportJournal {
  const journal: Journal = existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as Journal)
    : { from, streams: {} };
  if (journal.from !== from) {
    throw new CommandError(
      'invalid_file',
      `${path} is of an import from ${journal.from}`,
      'name another with --journal',
    );
  }
  return {
    find: (hostedId) => journal.streams[hostedId],
    has: (id) => Object.values(journal.streams).some((each) => each.id === id),
    save(hostedId, imported) {
      journal.streams[hostedId] = imported;
      writePrivately(path, `${JSON.stringify(journal, undefined, 2)}\n`);
      return imported;
    },
  };
}
