/** API keys, secrets of streams, console sessions and the audit log. */
import type { ApiKey, AuditRecord } from '@sluice/kit/contract';
import type { SealedSecret } from '../tables/streams.ts';
import type { StreamChangeNote } from '../streams/contract.ts';

/** An API key as it is stored. */
export interface ApiKeyRecord extends ApiKey {
  /** SHA-256 of the complete key, in hex. */
  hash: string;
}

export type NewApiKey = Omit<ApiKeyRecord, 'createdAt' | 'lastUsedAt' | 'revokedAt'>;

export interface AccessReads {
  /** Lists keys, newest first, including revoked keys. */
  listApiKeys(): Promise<ApiKeyRecord[]>;
  /**
   * Returns the ids of console sessions that were ended early, some of which may have expired in
   * the meantime.
   */
  listEndedSessions(): Promise<string[]>;
  /**
   * Returns a page of audit entries, newest first; with `before`, only entries with lower numbers.
   */
  listAudit(page: {
    limit: number;
    before?: number | undefined;
  }): Promise<{ rows: AuditRecord[]; next: number | undefined }>;
  /** Lists the secrets of a stream, newest first; undefined if the stream is unknown. */
  readStreamSecrets(streamId: string): Promise<SealedSecret[] | undefined>;
  /**
   * Returns a page of the secrets of all streams that are not deleted, starting after the stream
   * `after`.
   */
  listStreamSecrets(
    after?: string,
  ): Promise<{ rows: { streamId: string; secrets: SealedSecret[] }[]; next: string | undefined }>;
  readLedgerTime(): Promise<number>;
}

export interface AccessWrites {
  createApiKey(key: NewApiKey): Promise<ApiKeyRecord>;
  /** Creates the first key; returns undefined if there is already a key, even a revoked one. */
  createFirstApiKey(key: NewApiKey): Promise<ApiKeyRecord | undefined>;
  /**
   * Revokes a key; returns undefined if the key is unknown. A key that is already revoked does not
   * change.
   */
  revokeApiKey(id: string): Promise<ApiKeyRecord | undefined>;
  recordApiKeyUse(ids: readonly string[]): Promise<void>;
  /** Ends a session early. Its record is kept for at least a day after `expiresAt`. */
  endSession(session: { id: string; expiresAt: number }): Promise<void>;
  appendAudit(
    entry: Pick<AuditRecord, 'action' | 'keyId' | 'sessionName' | 'address' | 'target'>,
  ): Promise<void>;
  /**
   * Replaces the secrets of a stream if they still equal `before`, and records `note`; otherwise
   * returns false.
   */
  replaceStreamSecrets(
    streamId: string,
    before: readonly SealedSecret[],
    after: readonly SealedSecret[],
    note?: StreamChangeNote,
  ): Promise<boolean>;
}
