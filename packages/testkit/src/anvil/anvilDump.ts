import type { Hex } from 'viem';
import { fromHex, keccak, toHex } from '../scriptedChain/keccak.ts';
import { encodeRlp, rlpNumber } from '../scriptedChain/rlp.ts';

/** The parts of anvil's dump that we change; the rest passes through untouched. */
export interface AnvilDump {
  /** In no order, and with several of one number: each start of anvil leaves a genesis block behind. */
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
 * Makes a dump fit to be loaded: of several blocks of one number it keeps the one that the next block
 * names as its parent, and of the older blocks it keeps the first two (block 0 for its hash, block 1
 * to tell the true block 0 next time) and cuts off what lies before the newest `keepBlocks`.
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

/** The block of that hash. Without it (no child that names it, a header of unknown form) the oldest. */
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

/** In the order in which Ethereum hashes them; those from `baseFeePerGas` on came with later forks. */
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

/** The block's hash; fields that the header does not have are left out. */
export function hashOf(header: AnvilHeader): Hex {
  const fields = headerFields.flatMap(([name, decode]) => {
    const value = header[name];
    return value ? [decode(value)] : [];
  });
  return toHex(keccak(encodeRlp(fields)));
}
