/** Generates the transactions of demo blocks, with the streams that each transaction matches. */
import { scripted, scriptedAptos, type ScriptedTransaction } from '@sluice/testkit';
import {
  APTOS_PEOPLE,
  BASE,
  BASE_USDC,
  BRIDGED_USDC,
  DEPOSITS,
  ETHEREUM,
  PASSES,
  PEOPLE,
  POOL,
  TREASURY,
  USDC,
  USDT,
  VAULTS,
  WHALES,
} from './demoStreams.ts';
import type { Random } from './random.ts';

type Address = `0x${string}`;

/** A transaction and the tags of the streams that it matches. */
export interface EvmHappening {
  transaction: ScriptedTransaction;
  tags: readonly string[];
}

export interface AptosHappening {
  from: Address;
  to: Address;
  amount: bigint;
  tags: readonly string[];
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
export const SWAP_TOPIC = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67';

const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0');
const wordOf = (address: Address): Address => `0x${address.slice(2).padStart(64, '0')}`;

/** Returns a random amount with 6 decimals. The distribution is logarithmic, as on real chains. */
const amountOf = (random: Random, least: number, most: number): bigint =>
  BigInt(Math.round(least * (most / least) ** random.next() * 100)) * 10_000n;

function swap(random: Random): ScriptedTransaction {
  const dollars = amountOf(random, 200, 90_000);
  const ether = (dollars * 10n ** 12n) / 3_100n;
  const sells = random.next() < 0.5;
  const words = [
    sells ? dollars : -dollars,
    sells ? -ether : ether,
    1_424_000_000_000_000_000_000_000_000_000_000n + BigInt(random.below(1e9)),
    20_846_000_000_000_000_000n,
    BigInt(195_900 + random.below(200)),
  ];
  const [router, trader] = [random.pick(PEOPLE), random.pick(PEOPLE)];
  return {
    from: trader,
    to: router,
    logs: [
      {
        address: POOL,
        topics: [SWAP_TOPIC, wordOf(router), wordOf(trader)],
        data: `0x${words.map(word).join('')}`,
      },
    ],
  };
}

function mintPass(random: Random): ScriptedTransaction {
  const holder = random.pick(PEOPLE);
  const id: Address = `0x${word(BigInt(random.below(9_999)))}`;
  return {
    from: holder,
    to: PASSES.address,
    logs: [{ address: PASSES.address, topics: [TRANSFER, `0x${word(0n)}`, wordOf(holder), id] }],
  };
}

/** Generates the transactions of one block on Ethereum or Base. */
export function happeningsOn(chain: string, random: Random): EvmHappening[] {
  const happenings: EvmHappening[] = [];
  const chance = (share: number, tags: string[], make: () => ScriptedTransaction): void => {
    if (random.next() < share) happenings.push({ transaction: make(), tags });
  };
  const pay = (token: Address, from: Address, to: Address, value: bigint) =>
    scripted.erc20Transfer({ token, from, to, value });
  if (chain === ETHEREUM) {
    chance(0.5, ['deposits'], () =>
      pay(USDT.address, random.pick(PEOPLE), random.pick(DEPOSITS), amountOf(random, 20, 5_000)),
    );
    chance(0.1, ['whale-usdt'], () =>
      pay(USDT.address, random.pick(WHALES), random.pick(PEOPLE), amountOf(random, 1e6, 2e7)),
    );
    chance(0.02, ['treasury'], () =>
      pay(USDC.address, random.pick(TREASURY), random.pick(PEOPLE), amountOf(random, 500, 80_000)),
    );
    for (let swaps = random.below(4); swaps > 0; swaps--) {
      chance(0.5, ['all-swaps', 'staging-mirror'], () => swap(random));
    }
  }
  if (chain === BASE) {
    for (let transfers = random.below(4); transfers > 0; transfers--) {
      chance(0.35, ['usdc-on-base'], () =>
        pay(BASE_USDC.address, random.pick(PEOPLE), random.pick(PEOPLE), amountOf(random, 1, 900)),
      );
    }
    chance(0.26, ['deposits'], () =>
      pay(
        BRIDGED_USDC.address,
        random.pick(PEOPLE),
        random.pick(DEPOSITS),
        amountOf(random, 5, 2_000),
      ),
    );
    chance(0.004, ['treasury'], () =>
      pay(
        BRIDGED_USDC.address,
        random.pick(TREASURY),
        random.pick(PEOPLE),
        amountOf(random, 50, 9_000),
      ),
    );
    chance(0.09, ['pass-holders'], () => mintPass(random));
  }
  return happenings;
}

export function happeningsOnAptos(random: Random): AptosHappening[] {
  const at = random.next();
  if (at >= 0.16) return [];
  // APT has 8 decimals, but `amountOf` returns amounts with 6.
  const amount = amountOf(random, 0.5, 4_000) * 100n;
  const [from, to] = [random.pick(APTOS_PEOPLE), random.pick(APTOS_PEOPLE)];
  if (at >= 0.04) return [{ from, to, amount, tags: ['aptos-payments'] }];
  const vault = random.pick(VAULTS);
  return [
    {
      ...(at < 0.02 ? { from: vault, to } : { from, to: vault }),
      amount,
      tags: ['aptos-payments', 'aptos-vault'],
    },
  ];
}

export const toAptosTransaction = ({ from, to, amount }: AptosHappening) =>
  scriptedAptos.transfer({ from, to, amount });
