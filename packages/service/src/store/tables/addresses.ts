/** Tables of addresses and rules. */
import type { Generated } from 'kysely';

export interface AddressTables {
  /** A single row. Changes to streams and addresses that matchers must read raise the revision. */
  rule_revision: {
    id: number;
    revision: number;
    /** Newest revision whose address changes have been deleted, at least in part. */
    trimmed: number;
  };
  stream_address: StreamAddressTable;
  address_change: AddressChangeTable;
  address_change_part: AddressChangePartTable;
}

/**
 * An address is in its stream's list if it has a row that an `active` change added and no `active`
 * change removed. There is at most one such row per stream and address.
 */
interface StreamAddressTable {
  stream_id: string;
  /** Lowercase. */
  address: string;
  label: string | null;
  /** Time at which the address was added to the stream. Relabeling does not change it. */
  added_at: number;
  /** Id of the API key that added the address. */
  key_id: string;
  /** Id of the change that added this row, because the address or its label was new. */
  added_by: number;
  removed_by: number | null;
}

interface AddressChangeTable {
  /** Ids are never reused. */
  id: Generated<number>;
  stream_id: string;
  /** A stream has at most one change that is not `active`. */
  state: 'staging' | 'active' | 'abandoned';
  /** The `rule_revision` at which the change became active. */
  revision: number | null;
  parts: number;
  /** Change in the number of addresses. */
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
  /**
   * Number of rows of `stream_address` that this part removed and that have not been deleted yet.
   */
  dead: number;
}
