import type { Address, Hex } from 'viem';
import type { Activity } from '../anvil/activity.ts';
import { type DeployedContracts, contractsOwner } from '../anvil/deployContracts.ts';
import { devAccounts } from '../anvil/devAccounts.ts';
import { type ScriptedTransaction, scripted } from './scriptedTransaction.ts';
import type { RunningScriptedChain } from './node/startScriptedChain.ts';

export interface ScriptedActivityOptions {
  chain: RunningScriptedChain;
  /** Addresses of the three contracts. `eth_call` returns their metadata. */
  contracts: DeployedContracts;
  /** Blocks per second, above 0. Each block has one transaction. Default: 1. */
  perSecond?: number;
}

/**
 * Mines a rotating mix of ERC-20 transfers, ERC-721 mints and transfers, ERC-1155 transfers and
 * native transfers at the current time, as `startActivity` does on anvil. The chain responds to
 * `eth_call` with the metadata of the contracts.
 */
export function startScriptedActivity(options: ScriptedActivityOptions): Activity {
  const { chain, contracts, perSecond = 1 } = options;
  chain.answerCalls(({ to, data }) => answerOf(contracts, to, data));
  let sent = 0;
  const mine = (): void => {
    const now = BigInt(Math.floor(Date.now() / 1_000));
    const earliest = chain.head.timestamp + 1n;
    chain.mine({
      transactions: [nextTransaction(Number(chain.head.number), contracts)],
      timestamp: now > earliest ? now : earliest,
    });
    sent += 1;
  };
  mine();
  const timer = setInterval(mine, 1_000 / perSecond);
  return {
    get sent() {
      return sent;
    },
    stop: async () => clearInterval(timer),
  };
}

/**
 * Creates a transaction. `turn` is the number of the chain's head; it determines the sender, the
 * recipient and the amount.
 */
type Step = (turn: number, contracts: DeployedContracts) => ScriptedTransaction;

const sendToken: Step = (turn, { erc20 }) => {
  const value = BigInt(((turn * 7_919) % 1_000) + 1) * 10n ** BigInt(3 + (turn % 4)) + 1n;
  return scripted.erc20Transfer({ token: erc20, ...partiesOf(turn), value });
};

const sendNative: Step = (turn) =>
  scripted.transfer({ ...partiesOf(turn), value: BigInt((turn % 500) + 1) * 10n ** 15n });

/** Mints the collectible of this round at `MINT_TURN`, and transfers it at the later turn. */
const moveCollectible: Step = (turn, { erc721 }) => {
  const tokenId = word(BigInt(Math.floor(turn / mix.length) + 1));
  const { from, to } = partiesOf(turn);
  const isMint = turn % mix.length === MINT_TURN;
  return {
    from: contractsOwner.address,
    to: erc721,
    logs: [
      {
        address: erc721,
        topics: [TRANSFER, isMint ? word(0n) : wordOf(from), wordOf(to), tokenId],
      },
    ],
  };
};

const sendItem: Step = (turn, { erc1155 }) => {
  const { from, to } = partiesOf(turn);
  const amounts = word(BigInt((turn % 4) + 1)) + word(BigInt((turn % 9) + 1)).slice(2);
  const topics = [TRANSFER_SINGLE, wordOf(from), wordOf(from), wordOf(to)] as const;
  return { from, to: erc1155, logs: [{ address: erc1155, topics, data: amounts as Hex }] };
};

const MINT_TURN = 3;
const mix: readonly Step[] = [
  sendToken,
  sendNative,
  sendToken,
  moveCollectible,
  sendItem,
  sendToken,
  moveCollectible,
  sendToken,
];

const nextTransaction = (turn: number, contracts: DeployedContracts): ScriptedTransaction =>
  (mix[turn % mix.length] as Step)(turn, contracts);

const players = devAccounts.slice(0, 5);

function partiesOf(turn: number): { from: Address; to: Address } {
  const at = (index: number) =>
    (players[index % players.length] as (typeof players)[number]).address;
  // With five players, an offset of one to four never selects the sender as the recipient.
  return { from: at(turn), to: at(turn + 1 + (turn % 4)) };
}

const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_SINGLE: Hex = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
const wordOf = (address: Address): Hex => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;

/** ABI-encodes a string as the only return value. */
const textOf = (text: string): Hex => {
  const hex = Buffer.from(text).toString('hex');
  const padded = hex.padEnd(Math.ceil(hex.length / 64) * 64, '0');
  return `0x${word(32n).slice(2)}${word(BigInt(hex.length / 2)).slice(2)}${padded}`;
};

const SELECTORS = {
  '0x06fdde03': 'name',
  '0x95d89b41': 'symbol',
  '0x313ce567': 'decimals',
  '0x01ffc9a7': 'supportsInterface',
} as const;

/** Responds to calls for metadata as the contracts of the local chain do. Other calls revert. */
function answerOf({ erc20, erc721, erc1155 }: DeployedContracts, to: Address, data: Hex): Hex {
  const contract = to.toLowerCase();
  const asked = SELECTORS[data.slice(0, 10) as keyof typeof SELECTORS];
  if (contract === erc20) {
    if (asked === 'name') return textOf('Sluice Dollar');
    if (asked === 'symbol') return textOf('SLD');
    if (asked === 'decimals') return word(6n);
  }
  if (contract === erc721) {
    if (asked === 'name') return textOf('Sluice Collectible');
    if (asked === 'symbol') return textOf('SLC');
    if (asked === 'supportsInterface') return word(data.startsWith('80ac58cd', 10) ? 1n : 0n);
  }
  if (contract === erc1155 && asked === 'supportsInterface') {
    return word(data.startsWith('d9b67a26', 10) ? 1n : 0n);
  }
  throw new Error('execution reverted');
}
