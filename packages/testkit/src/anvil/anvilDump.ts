import type { Hex } from 'viem';
import { fromHex, keccak, toHex } from '../scriptedChain/keccak.ts';
import { encodeRlp, rlpNumber } from '../scriptedChain/rlp.ts';

/** The parts of anvil's dump that we change; the rest stays unchanged. */
export interface AnvilDump {
  /** Unordered; a number can occur twice, because each start of anvil adds a genesis block. */
  blocks: { header: AnvilHeader }[];
  best_block_number: number;
}

/** A header as in JSON-RPC, without its hash. */
export type AnvilHeader = Record<string, Hex | undefined> & {
  number: Hex;
  parentHash: Hex;
  timestamp: Hex;
};

/**
 * Prepares a dump for loading: of several blocks with the same number, it keeps the parent of the
 * next block, and it drops the blocks before the newest `keepBlocks`. It always keeps block 0 for
 * its hash, and block 1 to identify the right block 0 next time.
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

/** Returns the block with this hash, or the oldest one (no child, or a header of unknown form). */
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

/** In the order in which Ethereum hashes them; later forks added those from `baseFeePerGas` on. */
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
