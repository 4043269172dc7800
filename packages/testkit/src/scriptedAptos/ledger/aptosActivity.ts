import type { Hex } from 'viem';
import { namedObjectOf, namedTokenOf, sha3OfText } from './aptosAddress.ts';
import { scriptedAptos } from './scriptedAptos.ts';
import type { ScriptedAptosLedger } from './scriptedAptosLedger.ts';
import type { ScriptedAptosTransaction } from './scriptedAptosTransaction.ts';

/** A running activity, which mines blocks continuously, as on a live chain. */
export interface AptosActivity {
  readonly mined: number;
  stop(): void;
}

export interface AptosActivityOptions {
  ledger: ScriptedAptosLedger;
  /** Blocks per second, above 0. Each block has one transaction. Default: 1. */
  perSecond?: number;
}

/**
 * Long addresses of five accounts. They have no keys, because a scripted ledger does not check
 * signatures.
 */
export const aptosDevAccounts: readonly Hex[] = ['Ada', 'Bo', 'Cy', 'Di', 'Ed'].map((name) =>
  sha3OfText(`sluice dev account ${name}`),
);

/**
 * Mines a rotating mix of transactions at the current time: transfers of APT, as a fungible asset
 * and as a legacy coin, and of another fungible asset, USDS; a mint, a transfer and a burn of a
 * token; and sponsored, multisig and failed transactions.
 */
export function startAptosActivity({ ledger, perSecond = 1 }: AptosActivityOptions): AptosActivity {
  let mined = 0;
  const mine = () => {
    const now = BigInt(Date.now()) * 1_000n;
    const earliest = ledger.head.timestampUsecs + 1n;
    ledger.mine({
      transactions: [mined === 0 ? createAsset : mix[mined % mix.length]!(mined)],
      timestampUsecs: now > earliest ? now : earliest,
    });
    mined += 1;
  };
  mine();
  const timer = setInterval(mine, 1_000 / perSecond);

  return {
    get mined() {
      return mined;
    },
    stop: () => clearInterval(timer),
  };
}

const creator = playerAt(0);
const collection = 'Sluice Cats';
const createAsset = scriptedAptos.createFungibleAsset({
  creator,
  name: 'Sluice Dollar',
  symbol: 'USDS',
  decimals: 6,
});
const metadata = namedObjectOf(creator, 'USDS');

/** Creates a transaction. `turn` determines the sender, the recipient and the amount. */
type Step = (turn: number) => ScriptedAptosTransaction;

const sendApt: Step = (turn) => scriptedAptos.transfer(partiesOf(turn));
const sendAsset: Step = (turn) => scriptedAptos.fungibleTransfer({ ...partiesOf(turn), metadata });
const sendCoin: Step = (turn) => scriptedAptos.coinTransfer(partiesOf(turn));

/** Returns the name, the object and the first two owners of the token of this round of the mix. */
function tokenAt(turn: number) {
  const round = Math.floor(turn / mix.length);
  const name = `Cat ${round}`;
  const object = namedTokenOf(creator, collection, name);
  return { name, object, first: playerAt(round), second: playerAt(round + 1) };
}

const mintToken: Step = (turn) => {
  const { name, first } = tokenAt(turn);
  return scriptedAptos.tokenMint({ creator, collection, name, to: first });
};
const moveToken: Step = (turn) => {
  const { object, first, second } = tokenAt(turn);
  return scriptedAptos.tokenTransfer({ from: first, to: second, object });
};
const burnToken: Step = (turn) => {
  const { object, second } = tokenAt(turn);
  return scriptedAptos.tokenBurn({
    owner: second,
    object,
    collection: namedObjectOf(creator, collection),
  });
};

const sponsor: Step = (turn) => ({ ...sendAsset(turn), feePayer: playerAt(turn + 3) });

const actTogether: Step = (turn) =>
  scriptedAptos.multisig(sendApt(turn), {
    multisig: playerAt(turn),
    executor: playerAt(turn + 2),
  });

const fail: Step = (turn) => ({
  ...sendApt(turn),
  failure:
    'Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004): Insufficient balance to withdraw or transfer.',
});

const mix: readonly Step[] = [
  sendApt,
  sendAsset,
  mintToken,
  sendCoin,
  sponsor,
  moveToken,
  sendApt,
  fail,
  sendAsset,
  burnToken,
  actTogether,
];

function playerAt(turn: number): Hex {
  return aptosDevAccounts[turn % aptosDevAccounts.length] as Hex;
}

/**
 * Returns a sender, a recipient and an amount. With 6 decimals, amounts range from 0.0001 to almost
 * 100 units, so that wrong decimals are noticed.
 */
function partiesOf(turn: number) {
  const amount = BigInt(((turn * 7_919) % 1_000) + 1) * 10n ** BigInt(2 + (turn % 4)) + 1n;
  // With five players, an offset of one to four never selects the sender as the recipient.
  return { from: playerAt(turn), to: playerAt(turn + 1 + (turn % 4)), amount };
}
