import type { Hex } from 'viem';
import { fromHex, keccak, toHex } from '../scriptedChain/keccak.ts';
import { encodeRlp, rlpNumber } from '../scriptedChain/rlp.ts';

/** The fields of anvil's dump that `repairDump` reads; all other fields stay unchanged. */
export interface AnvilDump {
  /** Unordered. Number 0 can occur twice, because each start of anvil adds a genesis block. */
  blocks: { header: AnvilHeader }[];
  best_block_number: number;
}

/** A block header with the field names and hex values of JSON-RPC, but without `hash`. */
export type AnvilHeader = Record<string, Hex | undefined> & {
  number: Hex;
  parentHash: Hex;
  timestamp: Hex;
};

/**
 * Prepares a dump for loading. Keeps one block per number, chosen by `pickBlock`. Drops all blocks
 * before the newest `keepBlocks`, except block 0, whose hash must not change, and block 1, which
 * identifies the right block 0 at the next load.
 */
export function repairDump<Dump extends AnvilDump>(dump: Dump, keepBlocks: number): Dump {
  const byNumber = Map.groupBy(dump.blocks, ({ header }) => Number(header.number));
  const oldest = dump.best_block_number - keepBlocks;
  const blocks: AnvilDump['blocks'] = [];
  let parentHash: Hex | undefined;
  for (const number of [...byNumber.keys()].sort((a, b) => b - a)) {
    const block = pickBlock(byNumber.get(number) as AnvilDump['blocks'], parentHash);
    if (number <= 1 || number > oldest) blocks.push(block);
    parentHash = block.header.parentHash;
  }
  return { ...dump, blocks };
}

/**
 * Chooses one of several blocks with the same number: the one with this hash, otherwise the oldest.
 * No hash matches if there is no next block, or if the header has fields that `hashOf` does not
 * know.
 */
function pickBlock(
  candidates: AnvilDump['blocks'],
  hash: Hex | undefined,
): AnvilDump['blocks'][number] {
  const [first, ...others] = candidates as [AnvilDump['blocks'][number]];
  if (others.length === 0) return first;
  const timestampOf = ({ header }: { header: AnvilHeader }) => Number(header.timestamp);
  return (
    candidates.find(({ header }) => hashOf(header) === hash) ??
    candidates.reduce((one, other) => (timestampOf(other) < timestampOf(one) ? other : one))
  );
}

/**
 * Header fields in the order in which they are hashed. London and later forks added
 * `baseFeePerGas` and the fields after it.
 */
const headerFields = [
  ['parentHash', fromHex],
  ['sha3Uncles', fromHex],
  ['miner', fromHex],
  ['stateRoot', fromHex],
  ['transactionsRoot', fromHex],
  ['receiptsRoot', fromHex],
  ['logsBloom', fromHex],
  ['difficulty', fromQuantity],
  ['number', fromQuantity],
  ['gasLimit', fromQuantity],
  ['gasUsed', fromQuantity],
  ['timestamp', fromQuantity],
  ['extraData', fromHex],
  ['mixHash', fromHex],
  ['nonce', fromHex],
  ['baseFeePerGas', fromQuantity],
  ['withdrawalsRoot', fromHex],
  ['blobGasUsed', fromQuantity],
  ['excessBlobGas', fromQuantity],
  ['parentBeaconBlockRoot', fromHex],
  ['requestsHash', fromHex],
] as const;

function fromQuantity(hex: Hex): Buffer {
  return rlpNumber(BigInt(hex));
}

/** Returns the block's hash, computed over the fields that the header has. */
export function hashOf(header: AnvilHeader): Hex {
  const fields = headerFields.flatMap(([name, decode]) => {
    const value = header[name];
    return value ? [decode(value)] : [];
  });
  return toHex(keccak(encodeRlp(fields)));
}
