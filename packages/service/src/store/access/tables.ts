/** Rows of API keys, ended sessions and the audit log. */

export interface AccessTables {
  api_key: ApiKeyTable;
  /** Sessions of the console that were signed out, until they would have ended by themselves. */
  ended_session: { id: string; expires_at: number };
  /** Append-only. */
  audit: AuditTable;
}

interface ApiKeyTable {
  id: string;
  name: string;
  /** SHA-256 of the whole key, in hex: keys are random, so one hash without salt is enough. */
  hash: string;
  /** JSON arrays. */
  scopes: string;
  cidrs: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** As `AuditRecord` of the contract. */
interface AuditTable {
  seq: number;
  at: number;
  action: string;
  key_id: string;
  address: string;
  target: string;
  previous_hash: string;
  hash: string;
}
