/** Rows of addresses and of the rules. */
import type { Generated } from 'kysely';

export interface AddressTables {
  /** One row: raised by each change of a stream or its addresses. */
  rule_revision: {
    id: number;
    revision: number;
    /** Newest revision whose changes of addresses are no longer kept whole. */
    trimmed: number;
  };
  stream_address: StreamAddressTable;
  address_change: AddressChangeTable;
  address_change_part: AddressChangePartTable;
}

/**
 * Part of its stream's list when the change that added it is `active`, and none that is removed it.
 * Of an address at most one row is.
 */
interface StreamAddressTable {
  stream_id: string;
  /** Lower case. */
  address: string;
  label: string | null;
  /** When the stream began to have it; another label changes nothing of that. */
  added_at: number;
  /** Id of the API key it was added with. */
  key_id: string;
  /** The change that added the row, of the address or of its label. */
  added_by: number;
  removed_by: number | null;
}

interface AddressChangeTable {
  /** Never used again. */
  id: Generated<number>;
  stream_id: string;
  /** At most one of a stream is not `active`. */
  state: 'staging' | 'active' | 'abandoned';
  /** Value of `rule_revision` from which it is active. */
  revision: number | null;
  parts: number;
  /** By how much it changes the number of addresses. */
  delta: number;
  touched_at: number;
}

interface AddressChangePartTable {
  change_id: number;
  part: number;
  kind: 'add' | 'remove';
  /** Bytes of an address. */
  width: 20 | 32;
  /** The addresses one after the other, without `0x`. */
  digits: string;
  /** Rows of `stream_address` that it removed and that are still there. */
  dead: number;
}
