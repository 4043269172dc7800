import type { Address } from 'viem';
import { type ActivityChain, connectActivityChain } from './activityChain.ts';
import { type DeployedContracts, contractsOwner } from './deployContracts.ts';
import { type DevAccount, devAccounts } from './devAccounts.ts';

/** A running activity, which sends transactions continuously, as on a live chain. */
export interface Activity {
  /** Number of transactions that the node has accepted so far. */
  readonly sent: number;
  /** Stops sending; resolves when the last attempt has ended. */
  stop(): Promise<void>;
}

export interface ActivityOptions {
  /** URL of the chain's JSON-RPC over HTTP. The dev accounts must have ether on this chain. */
  url: string;
  contracts: DeployedContracts;
  /** Transactions per second, above 0; limited by the speed of the node. Default: 1. */
  perSecond?: number;
  /** Called for each failed attempt; the activity continues. By default, errors are ignored. */
  onError?: (error: Error) => void;
}

/**
 * Sends a rotating mix of ERC-20 transfers and approvals, ERC-721 mints, transfers and burns,
 * ERC-1155 single and batch transfers, and native transfers. The senders are five dev accounts, one
 * of which owns the contracts.
 *
 * Before each transaction, the nonce and any balances or tokens that it needs are read from the
 * chain, so the activity continues after a restart, a reset or a reorg.
 */
export function startActivity(options: ActivityOptions): Activity {
  const { url, contracts, perSecond = 1, onError = () => {} } = options;
  const pauseMs = 1_000 / perSecond;
  let sent = 0;
  let turn = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let sending = Promise.resolve();
  const chain = connectActivityChain(url, contracts);

  const sendNext = async () => {
    const dueAt = performance.now() + pauseMs;
    const step = mix[turn % mix.length] as Step;
    // Increments before the attempt, so that a step that always fails does not block the others.
    turn += 1;
    try {
      await step(await chain, turn);
      sent += 1;
    } catch (error) {
      onError(error as Error);
    }
    if (!stopped) schedule(Math.max(0, dueAt - performance.now()));
  };
  const schedule = (waitMs: number) => {
    timer = setTimeout(() => {
      sending = sendNext();
    }, waitMs);
  };
  schedule(0);

  return {
    get sent() {
      return sent;
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await sending;
    },
  };
}

/**
 * Sends one transaction. `turn` is the number of the step; it determines the sender, the recipient
 * and the amount.
 */
type Step = (chain: ActivityChain, turn: number) => Promise<void>;

const sendToken: Step = async (chain, turn) => {
  // The amounts range from a tenth of a cent to almost 1,000 dollars, so that wrong decimals are
  // noticed.
  const amount = BigInt(((turn * 7_919) % 1_000) + 1) * 10n ** BigInt(3 + (turn % 4)) + 1n;
  const player = playerAt(turn);
  const from = payer(player, await chain.readTokenBalance(player.address), amount);
  await chain.sendToken(from, receiver(from, turn), amount);
};

const approveToken: Step = async (chain, turn) => {
  const from = playerAt(turn);
  await chain.approveToken(from, receiver(from, turn), BigInt(turn % 1_000) * 1_000_000n);
};

const sendNative: Step = async (chain, turn) => {
  const from = playerAt(turn);
  await chain.sendNative(from, receiver(from, turn), BigInt((turn % 500) + 1) * 10n ** 15n);
};

const mintCollectible: Step = (chain, turn) => chain.mintCollectible(playerAt(turn).address);

const sendCollectible: Step = async (chain, turn) => {
  const tokenId = await chain.readLastTokenId();
  const holder = await chain.readHolder(tokenId);
  const from = players.find(({ address }) => address === holder);
  if (!from) return mintCollectible(chain, turn);
  await chain.sendCollectible(from, receiver(from, turn), tokenId);
};

/** Number of collectibles to keep; older ones are burned to limit the state of the chain. */
const livingCollectibles = 20n;

const burnCollectible: Step = async (chain, turn) => {
  const tokenId = (await chain.readLastTokenId()) - livingCollectibles;
  if (tokenId < 1n || !(await chain.readHolder(tokenId))) return mintCollectible(chain, turn);
  await chain.burnCollectible(tokenId);
};

const sendItem: Step = async (chain, turn) => {
  const id = BigInt((turn % 4) + 1);
  const player = playerAt(turn);
  const amount = BigInt((turn % 9) + 1);
  const from = payer(player, await chain.readItemBalance(player.address, id), amount);
  await chain.sendItem(from, receiver(from, turn), id, amount);
};

const sendItems: Step = async (chain, turn) => {
  // Only the owner is certain to hold enough items of each id.
  const to = receiver(contractsOwner, turn);
  await chain.sendItems(contractsOwner, to, [1n, 2n, 3n], [1n, 2n, BigInt((turn % 9) + 1)]);
};

/** The steps in the order of sending. ERC-20 transfers are the most common, as on real chains. */
const mix: readonly Step[] = [
  sendToken,
  sendNative,
  sendToken,
  mintCollectible,
  sendItem,
  sendToken,
  sendCollectible,
  approveToken,
  sendToken,
  sendItems,
  burnCollectible,
];

const players = devAccounts.slice(0, 5);

function playerAt(turn: number): DevAccount {
  return players[turn % players.length] as DevAccount;
}

/** Returns the address of a player other than `from`. The choice depends on `turn`. */
function receiver(from: DevAccount, turn: number): Address {
  const others = players.filter((player) => player !== from);
  return (others[turn % others.length] as DevAccount).address;
}

/** Returns `player`, or the owner of the contracts if the player's balance is too low. */
function payer(player: DevAccount, balance: bigint, amount: bigint): DevAccount {
  return balance >= amount ? player : contractsOwner;
}
