/** API keys, secrets of streams, console sessions and the audit log. */
import type { ApiKey, AuditRecord } from '@sluice/kit/contract';
import type { StreamChangeNote } from '../streams/contract.ts';

/** A key as it is kept. */
export interface ApiKeyRecord extends ApiKey {
  /** SHA-256 of the whole key, in hex. */
  hash: string;
}

export type NewApiKey = Omit<ApiKeyRecord, 'createdAt' | 'lastUsedAt' | 'revokedAt'>;

/** A secret that is encrypted (`vault.ts`). Times are Unix milliseconds of the ledger's clock. */
export interface SealedSecret {
  sealed: string;
  createdAt: number;
  /** When it signs no more; null for the one in use. */
  endsAt: number | null;
}

export interface AccessReads {
  /** Newest first; those that were revoked, too. */
  listApiKeys(): Promise<ApiKeyRecord[]>;
  /** Ids of console sessions that were ended before their time, and would still be good. */
  listEndedSessions(): Promise<string[]>;
  /** Newest first; those before this one. */
  listAudit(page: {
    limit: number;
    before?: number | undefined;
  }): Promise<{ rows: AuditRecord[]; next: number | undefined }>;
  /** The newest first; undefined when the stream is unknown. */
  readStreamSecrets(streamId: string): Promise<SealedSecret[] | undefined>;
  /** Of all streams that are not deleted; a page of them after this stream. */
  listStreamSecrets(
    after?: string,
  ): Promise<{ rows: { streamId: string; secrets: SealedSecret[] }[]; next: string | undefined }>;
  readLedgerTime(): Promise<number>;
}

export interface AccessWrites {
  createApiKey(key: NewApiKey): Promise<ApiKeyRecord>;
  /** Undefined where there is a key already, or was one. */
  createFirstApiKey(key: NewApiKey): Promise<ApiKeyRecord | undefined>;
  /** Undefined when it is unknown; one that was revoked before stays as it is. */
  revokeApiKey(id: string): Promise<ApiKeyRecord | undefined>;
  noteApiKeysUsed(ids: readonly string[]): Promise<void>;
  /** Of one that would have ended by itself at `expiresAt`; it is remembered until a day after that. */
  endSession(session: { id: string; expiresAt: number }): Promise<void>;
  appendAudit(entry: Pick<AuditRecord, 'action' | 'keyId' | 'address' | 'target'>): Promise<void>;
  /** Replaces the secrets of a stream where they are still these; false where they are not. */
  replaceStreamSecrets(
    streamId: string,
    before: readonly SealedSecret[],
    after: readonly SealedSecret[],
    note?: StreamChangeNote,
  ): Promise<boolean>;
}
