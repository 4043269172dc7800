/**
 * The journal of an import. It is rewritten after each step, so that a killed import can resume.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { NetworkType } from '@sluice/kit';
import { writePrivately } from '../connection/contexts.ts';
import { CommandError } from '../terminal/errors.ts';

/** A local stream that replaces a hosted one, with the progress of its import. */
export interface ImportedStream {
  id: string;
  family: NetworkType;
  /** Number of addresses imported so far. */
  addresses: number;
  /** Cursor of the next hosted page; undefined at the start and at the end. */
  cursor?: string | undefined;
  done: boolean;
}

export interface ImportJournal {
  find(hostedId: string): ImportedStream | undefined;
  /** Returns whether the local stream with this id already replaces a hosted one. */
  has(id: string): boolean;
  save(hostedId: string, imported: ImportedStream): ImportedStream;
  /** SHA-256 of the secret that an earlier run created, in hex; undefined if none did. */
  readSecretHash(): string | undefined;
  saveSecretHash(hash: string): void;
}

interface Journal {
  from: string;
  secretHash?: string;
  streams: Record<string, ImportedStream>;
}

/** @throws CommandError `invalid_file` if the journal belongs to an import from another service. */
export function openJournal(path: string, from: string): ImportJournal {
  const journal: Journal = existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as Journal)
    : { from, streams: {} };
  if (journal.from !== from) {
    throw new CommandError(
      'invalid_file',
      `${path} is the journal of an import from ${journal.from}`,
      'pass another file with --journal',
    );
  }
  const write = (): void => writePrivately(path, `${JSON.stringify(journal, undefined, 2)}\n`);
  return {
    find: (hostedId) => journal.streams[hostedId],
    has: (id) => Object.values(journal.streams).some((each) => each.id === id),
    save(hostedId, imported) {
      journal.streams[hostedId] = imported;
      write();
      return imported;
    },
    readSecretHash: () => journal.secretHash,
    saveSecretHash(hash) {
      journal.secretHash = hash;
      write();
    },
  };
}
