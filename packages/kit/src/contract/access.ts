/**
 * Who may call, what signs a stream's webhooks, and the record of both. Times are Unix milliseconds.
 */
import { keccak256 } from './hash.ts';

/**
 * What a key may do. `streams:read` and `streams:write`: streams, their addresses, dry runs and
 * chains · `history:read`: deliveries with their bodies, logs, counts, jobs, live events · `replay`:
 * send again, and send past blocks · `settings:admin`: settings, secrets, keys, halted chains, the
 * audit log.
 */
export const SCOPES = [
  'streams:read',
  'streams:write',
  'history:read',
  'replay',
  'settings:admin',
] as const;

/** One thing a key may do. */
export type Scope = (typeof SCOPES)[number];

/** An API key, as it is listed: everything but the key itself. */
export interface ApiKey {
  /** The middle part of the key, `sluice_<id>_…`. */
  id: string;
  name: string;
  scopes: Scope[];
  /** Networks it may be used from, such as `10.0.0.0/8`; empty for anywhere. */
  cidrs: string[];
  createdAt: number;
  /** Null for never. */
  expiresAt: number | null;
  /** To the minute; null before the first use. */
  lastUsedAt: number | null;
  /** Null while it is good. */
  revokedAt: number | null;
}

/** A key to be made. */
export interface CreateApiKey {
  /** What it is for, 1 to 100 characters. */
  name: string;
  /** Default: all of them. */
  scopes?: Scope[] | undefined;
  /** At most 20. Default: from anywhere. */
  cidrs?: string[] | undefined;
  /** Default: never. */
  expiresAt?: number | undefined;
}

/** A key that was made, and the one time that it is told. */
export interface CreatedApiKey extends ApiKey {
  /** `sluice_<id>_<secret>`. */
  key: string;
}

/** What signs the `webhook-signature` of a stream's webhooks, beside the account's streams secret. */
export interface StreamSecret {
  streamId: string;
  /** `whsec_` and base64, as Standard Webhooks has it. */
  secret: string;
  createdAt: number;
  /** Older secrets that sign beside it until their time is over; the newest first. */
  previous: { secret: string; endsAt: number }[];
}

/** How a secret is replaced. */
export interface RotateStreamSecret {
  /** How long the old secrets sign beside the new one, at most 30 days; 0: not at all. Default: a day. */
  overlapSeconds?: number | undefined;
}

/** One record of the audit log: who did what, when and from where. */
export interface AuditRecord {
  /** 1 for the first, without gaps. */
  seq: number;
  at: number;
  /** The name of the call, such as `revokeApiKey`; `authFailures` for a burst of refused callers. */
  action: string;
  /** Id of the key that made the call; `bootstrap` for the one of `--api-key`, empty for nobody. */
  keyId: string;
  /** IP address of the caller. */
  address: string;
  /** Id of what it was done to; empty where the action says it all. */
  target: string;
  /** Hash of the record before; empty for the first. */
  previousHash: string;
  /** {@link hashAuditRecord} of this one. */
  hash: string;
}

/** A page of the audit log. */
export interface AuditPage {
  /** Newest first. */
  result: AuditRecord[];
  /** Absent on the last page. */
  cursor?: string;
}

/**
 * Keccak-256 of a record and the hash before it: who knows the newest hash notices whatever is changed,
 * left out or put in before it.
 */
export const hashAuditRecord = (record: Omit<AuditRecord, 'hash'>): string => {
  const { seq, at, action, keyId, address, target, previousHash } = record;
  return keccak256(JSON.stringify([seq, at, action, keyId, address, target, previousHash]));
};
