/**
 * Removes the seals of validators from the extra data of headers, which Besu and GoQuorum do before
 * they hash a header (IBFT, IBFT 2.0 and QBFT).
 */
import type { Json } from '../../../../ingest/json.ts';
import { toBytes } from '../proof/fields.ts';
import { encodeList, splitList } from '../proof/rlp.ts';

/** Marks a header of these protocols: "Istanbul practical byzantine fault tolerance". */
const MIX_HASH = '0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365';
const VANITY_BYTES = 32;
const EMPTY_BYTES = Buffer.of(0x80);
const EMPTY_LIST = Buffer.of(0xc0);

/**
 * Returns the extra data as it may be hashed; empty if the header is of another protocol.
 *
 * @see https://github.com/hyperledger/besu/blob/main/consensus/common/src/main/java/org/hyperledger/besu/consensus/common/bft/BftBlockHashing.java
 * @see https://github.com/ConsenSys/quorum/blob/master/core/types/istanbul.go
 */
export function withoutSeals(header: Json): Buffer[] {
  if (header['mixHash'] !== MIX_HASH) return [];
  const extraData = toBytes(header['extraData']);
  const items = splitList(extraData);
  if (items?.length === 5) {
    const kept = items.slice(0, 3);
    // QBFT keeps an empty round and an empty list of seals; IBFT 2.0 keeps neither.
    return [encodeList([...kept, EMPTY_BYTES, EMPTY_LIST]), encodeList(kept)];
  }
  const ibft = splitList(extraData.subarray(VANITY_BYTES));
  if (ibft?.length !== 3) return [];
  const sealed = encodeList([...ibft.slice(0, 2), EMPTY_LIST]);
  return [Buffer.concat([extraData.subarray(0, VANITY_BYTES), sealed])];
}
