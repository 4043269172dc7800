/** Tables of API keys, ended sessions and the audit log. */

export interface AccessTables {
  api_key: ApiKeyTable;
  /** Ended console sessions, until they would have expired. */
  ended_session: { id: string; expires_at: number };
  /** Append-only. */
  audit: AuditTable;
}

interface ApiKeyTable {
  id: string;
  name: string;
  /** SHA-256 of the complete key, in hex. Keys are random, so a hash without a salt is enough. */
  hash: string;
  /** JSON arrays. */
  scopes: string;
  cidrs: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** Like `AuditRecord` of the contract. */
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
