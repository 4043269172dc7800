/** Tables of addresses and rules. */
import type { Generated } from 'kysely';

export interface AddressTables {
  /** A single row. Each change of a stream or its addresses raises the revision. */
  rule_revision: {
    id: number;
    revision: number;
    /** Newest revision whose address changes are no longer stored completely. */
    trimmed: number;
  };
  stream_address: StreamAddressTable;
  address_change: AddressChangeTable;
  address_change_part: AddressChangePartTable;
}

/**
 * A row is in its stream's list if the change that added it is `active`, and no active change has
 * removed it. An address has at most one such row.
 */
interface StreamAddressTable {
  stream_id: string;
  /** Lowercase. */
  address: string;
  label: string | null;
  /** Time at which the address was added to the stream. Relabeling does not change it. */
  added_at: number;
  /** Id of the API key that added it. */
  key_id: string;
  /** The change that added the row, for a new address or a new label. */
  added_by: number;
  removed_by: number | null;
}

interface AddressChangeTable {
  /** Ids are never reused. */
  id: Generated<number>;
  stream_id: string;
  /** A stream has at most one change that is not `active`. */
  state: 'staging' | 'active' | 'abandoned';
  /** Value of `rule_revision` at which the change became active. */
  revision: number | null;
  parts: number;
  /** Effect on the number of addresses. */
  delta: number;
  touched_at: number;
}

interface AddressChangePartTable {
  change_id: number;
  part: number;
  kind: 'add' | 'remove';
  /** Number of bytes per address. */
  width: 20 | 32;
  /** The concatenated addresses in hex, without `0x`. */
  digits: string;
  /** Number of rows of `stream_address` that the change removed and that still exist. */
  dead: number;
}
