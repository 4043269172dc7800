/** Completes Aptos bodies with the names, symbols and decimals of the assets that moved. */
import { type DescribedAptosWebhook, describeWebhook } from '@sluice/kit';
import type { AptosCoin, AptosWebhook, DeliverySummary } from '@sluice/kit/contract';
import type { Log } from '../../base/log.ts';
import { fromBodyTail, toBodyTail } from '../../store/blocks/body.ts';
import type { BlockRef } from '../../store/blocks/contract.ts';
import type { Store } from '../../store/store.ts';
import type { Token } from '../../store/enrichment/contract.ts';
import type { AptosStreamOptions } from '../../store/streams/contract.ts';
import type { Enrich } from '../enrich.ts';
import { createEnrichPool } from '../enrichPool.ts';
import type { AptosReader } from '../state.ts';
import { MAX_TEXT_CHARACTERS, cleanText } from '../token.ts';
import { createTokens } from '../tokens.ts';
import { toValueWithDecimals } from '../valueWithDecimals.ts';

/** The lists of a body that contain coins. */
export type AptosCoinArrays = Pick<
  AptosWebhook,
  'coinTransfers' | 'coinDeposits' | 'coinWithdrawals'
>;

export type AptosEnrich = Enrich<AptosStreamOptions, AptosCoinArrays>;

const COIN_CACHE_BYTES = 8 * 1024 * 1024;
/** The plan is empty, because the body itself contains the coins. */
const COINS_ONLY = '{}';
const MAX_DECIMALS = 255;
/**
 * The maximum growth of a record per coin: two strings with up to 4 bytes per character, and a
 * number.
 */
const RECORD_GROWTH = 2 * 4 * MAX_TEXT_CHARACTERS + 30;

export function createAptosEnrich({
  chain,
  store,
  reader,
  log,
  onDeliveries,
}: {
  chain: string;
  store: Store;
  reader: AptosReader;
  log: Log;
  /** Called with deliveries that have become due. */
  onDeliveries(deliveries: DeliverySummary[]): void;
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

  /** Returns why the body is incomplete; undefined if it is complete. */
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
    onDeliveries,
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
    async complete(block: BlockRef, _: AptosStreamOptions, tail: AptosCoinArrays): Promise<void> {
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

/** Returns every coin in the arrays, without duplicates. */
const coinTypesOf = (tail: AptosCoinArrays): Set<string> =>
  new Set(
    recordsOf(tail)
      .map(({ coin }) => coin.type)
      .filter((type) => type !== ''),
  );

/** Fills in coins and amounts in place; the keys stay in wire order. */
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

/** A coin that does not exist on the chain has no metadata. */
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
