/** Tables of API keys, ended sessions and the audit log. */

export interface AccessTables {
  api_key: ApiKeyTable;
  /** Console sessions that were ended early. Kept for at least a day after their expiry. */
  ended_session: { id: string; expires_at: number };
  /** Append-only. */
  audit: AuditTable;
}

interface ApiKeyTable {
  id: string;
  name: string;
  /** SHA-256 of the complete key, in hex. Keys are random, so a hash without a salt is enough. */
  hash: string;
  /** JSON array, like `cidrs`. */
  scopes: string;
  cidrs: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** The columns of an `AuditRecord`. */
interface AuditTable {
  seq: number;
  at: number;
  action: string;
  key_id: string;
  session_name: string;
  address: string;
  target: string;
  previous_hash: string;
  hash: string;
}
