/**
 * Completes Aptos bodies with the name, symbol and decimals of each coin, and with the amounts that
 * depend on the decimals.
 */
import { type DescribedAptosWebhook, describeWebhook } from '@sluice/kit';
import type { AptosCoin, AptosWebhook } from '@sluice/kit/contract';
import type { Log } from '../../../base/log.ts';
import { fromBodyTail, toBodyTail } from '../../../store/blocks/body.ts';
import type { BlockRef } from '../../../store/blocks/contract.ts';
import type { Store } from '../../../store/store.ts';
import type { Token } from '../../../store/enrichment/contract.ts';
import type { AptosStreamOptions } from '../../../store/streams/contract.ts';
import type { Enrich } from '../../../enrich/enrich.ts';
import { createEnrichPool } from '../../../enrich/enrichPool.ts';
import type { AptosReader } from './coinReader.ts';
import { MAX_TEXT_CHARACTERS, cleanText } from '../../../enrich/tokenText.ts';
import { createTokens } from '../../../enrich/tokens.ts';
import { toValueWithDecimals } from '../../../base/valueWithDecimals.ts';

export type AptosCoinArrays = Pick<
  AptosWebhook,
  'coinTransfers' | 'coinDeposits' | 'coinWithdrawals'
>;

export type AptosEnrich = Enrich<AptosStreamOptions, AptosCoinArrays>;

const COIN_CACHE_BYTES = 8 * 1024 * 1024;
/** An empty plan: the types of the coins to read are in the body itself. */
const COINS_ONLY = '{}';
const MAX_DECIMALS = 255;
/**
 * Maximum growth of a record in bytes: two strings with up to 4 bytes per character, and two
 * numbers.
 */
const RECORD_GROWTH = 2 * 4 * MAX_TEXT_CHARACTERS + 30;

export function createAptosEnrich({
  chain,
  store,
  reader,
  log,
}: {
  chain: string;
  store: Store;
  reader: AptosReader;
  log: Log;
}): AptosEnrich {
  const coins = createTokens({
    chain,
    store,
    cacheBytes: COIN_CACHE_BYTES,
    async ask(block, types) {
      const read = await Promise.all(
        types.map(async (type) => {
          const answer = await reader.readCoin(type, block);
          return answer.outcome === 'read' ? toToken(type, block, answer.value) : undefined;
        }),
      );
      return read.filter((token) => token !== undefined);
    },
  });

  /**
   * Fills in the coins of the tail. If the nodes refused any of them and this is not the last try,
   * leaves the tail unchanged and returns the reason.
   */
  const fill = async (
    block: BlockRef,
    tail: AptosCoinArrays,
    isLastTry: boolean,
  ): Promise<string | undefined> => {
    const types = coinTypesOf(tail);
    const known = await coins.read(block, types);
    const refused = [...types].filter((type) => !known.has(type));
    if (refused.length > 0 && !isLastTry)
      return `the metadata of ${refused.length} coins was refused`;
    coins.giveUp(block, refused);
    fillCoins(tail, (type) => known.get(type));
    return undefined;
  };

  const pool = createEnrichPool({
    chain,
    store,
    log,
    waiting: 'coin metadata is waiting',
    async complete({ bodyTail, block }, isLastTry) {
      const tail = fromBodyTail(bodyTail) as DescribedAptosWebhook & AptosCoinArrays;
      if ((await fill(block, tail, isLastTry)) !== undefined) return undefined;
      return { bodyTail: toBodyTail(tail), about: describeWebhook(tail) };
    },
  });

  return Object.assign(pool, {
    plan(_: AptosStreamOptions, tail: AptosCoinArrays): string | null {
      const known = new Map<string, Token>();
      for (const type of coinTypesOf(tail)) {
        const coin = coins.find(type);
        if (coin === undefined) return COINS_ONLY;
        known.set(type, coin);
      }
      fillCoins(tail, (type) => known.get(type));
      return null;
    },
    mostGrowth: (_: AptosStreamOptions, tail: AptosCoinArrays) =>
      recordsOf(tail).length * RECORD_GROWTH,
    async complete(block: BlockRef, _: unknown, tail: AptosCoinArrays): Promise<void> {
      await fill(block, tail, true);
    },
  });
}

type Named = { coin: AptosCoin; value: string; valueWithDecimals: number | null };

const recordsOf = (tail: AptosCoinArrays): Named[] => [
  ...tail.coinTransfers,
  ...tail.coinDeposits,
  ...tail.coinWithdrawals,
];

/** Returns the types of the coins in the lists, except unknown types. */
const coinTypesOf = (tail: AptosCoinArrays): Set<string> =>
  new Set(
    recordsOf(tail)
      .map(({ coin }) => coin.type)
      .filter((type) => type !== ''),
  );

/** Fills in metadata and amounts in place, which keeps the order of the keys. */
function fillCoins(tail: AptosCoinArrays, find: (type: string) => Token | undefined): void {
  for (const record of recordsOf(tail)) {
    const token = find(record.coin.type);
    if (token === undefined) continue;
    const { decimals, name, symbol } = token;
    record.coin.decimals = decimals;
    record.coin.name = name;
    record.coin.symbol = symbol;
    if (decimals !== null) {
      record.valueWithDecimals = Number(toValueWithDecimals(record.value, decimals));
    }
  }
}

/**
 * Converts the on-chain metadata of a coin to a token. Missing or invalid fields become empty
 * strings, or null for `decimals`.
 */
function toToken(
  type: string,
  { number }: BlockRef,
  data: Readonly<Record<string, unknown>> | undefined,
): Token {
  const text = (value: unknown): string => (typeof value === 'string' ? cleanText(value) : '');
  const decimals = data?.['decimals'];
  const isDecimals =
    typeof decimals === 'number' &&
    Number.isInteger(decimals) &&
    decimals >= 0 &&
    decimals <= MAX_DECIMALS;
  return {
    address: type,
    name: text(data?.['name']),
    symbol: text(data?.['symbol']),
    decimals: isDecimals ? decimals : null,
    standard: '',
    blockNumber: number,
  };
}
