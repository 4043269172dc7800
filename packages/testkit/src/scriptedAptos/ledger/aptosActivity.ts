import type { Hex } from 'viem';
import { namedObjectOf, namedTokenOf, sha3OfText, toLongAddress } from './aptosAddress.ts';
import { resourceTypes } from './aptosResources.ts';
import type { ScriptedAptosLedger } from './scriptedAptosLedger.ts';
import type { ScriptedAptosTransaction } from './transactions/scriptedAptosTransaction.ts';
import { scriptedAptos } from './transactions/scriptedAptos.ts';

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

/** Metadata address of the fungible asset USDS, which the activity creates and transfers. */
export const aptosDevAsset = namedObjectOf(aptosDevAccounts[0] as Hex, 'USDS');

/**
 * Mines a rotating mix of transactions at the current time: transfers of APT, as a fungible asset
 * and as a legacy coin, and of another fungible asset; mints, transfers and burns of tokens; and
 * sponsored, multisig and failed transactions.
 *
 * The next transaction depends only on the ledger, so a new activity continues where an earlier one
 * stopped.
 */
export function startAptosActivity({ ledger, perSecond = 1 }: AptosActivityOptions): AptosActivity {
  let mined = 0;
  const mine = () => {
    const now = BigInt(Date.now()) * 1_000n;
    const earliest = ledger.head.timestampUsecs + 1n;
    ledger.mine({
      transactions: [nextTransaction(ledger)],
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

function nextTransaction(ledger: ScriptedAptosLedger): ScriptedAptosTransaction {
  if (ownerOf(ledger, aptosDevAsset) === undefined) {
    const asset = { name: 'Sluice Dollar', symbol: 'USDS', decimals: 6 };
    return scriptedAptos.createFungibleAsset({ creator, ...asset });
  }
  const turn = Number(ledger.head.height);
  const step = mix[turn % mix.length] as Step;
  return step(turn, ledger);
}

/**
 * Creates a transaction. `turn` is the height of the ledger's head; it determines the sender, the
 * recipient and the amount.
 */
type Step = (turn: number, ledger: ScriptedAptosLedger) => ScriptedAptosTransaction;

const sendApt: Step = (turn) => scriptedAptos.transfer(partiesOf(turn));

const sendAsset: Step = (turn) =>
  scriptedAptos.fungibleTransfer({ ...partiesOf(turn), metadata: aptosDevAsset });

const sendCoin: Step = (turn) => scriptedAptos.coinTransfer(partiesOf(turn));

/** Mints the token of this round, then transfers it, then burns it: one step per call. */
const moveToken: Step = (turn, ledger) => {
  const round = Math.floor(turn / mix.length);
  const name = `Cat ${round}`;
  const object = namedTokenOf(creator, collection, name);
  const [first, second] = [playerAt(round), playerAt(round + 1)];
  const owner = ownerOf(ledger, object);
  if (owner === undefined) {
    return scriptedAptos.tokenMint({ creator, collection, name, to: first });
  }
  if (owner === first) return scriptedAptos.tokenTransfer({ from: first, to: second, object });
  return scriptedAptos.tokenBurn({
    owner,
    object,
    collection: namedObjectOf(creator, collection),
  });
};

const sponsor: Step = (turn, ledger) =>
  scriptedAptos.sponsored(sendAsset(turn, ledger), playerAt(turn + 3));

const actTogether: Step = (turn, ledger) =>
  scriptedAptos.multisig(sendApt(turn, ledger), {
    multisig: playerAt(turn),
    executor: playerAt(turn + 2),
  });

const fail: Step = (turn, ledger) => scriptedAptos.failed(sendApt(turn, ledger));

const mix: readonly Step[] = [
  sendApt,
  sendAsset,
  moveToken,
  sendCoin,
  sponsor,
  moveToken,
  sendApt,
  fail,
  sendAsset,
  moveToken,
  actTogether,
];

const collection = 'Sluice Cats';
const creator = playerAt(0);

function ownerOf(ledger: ScriptedAptosLedger, object: Hex): Hex | undefined {
  const core = ledger.readResource(object, resourceTypes.object);
  return core === undefined ? undefined : toLongAddress((core as { owner: string }).owner);
}

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
