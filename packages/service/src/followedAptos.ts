/** One Aptos network that is read. */
import { toAptosChain } from '@sluice/kit/contract';
import type { AptosMatching } from './aptosMatching.ts';
import type { AptosConfig } from './config.ts';
import { type AptosEnrich, createAptosEnrich } from './enrich/aptosEnrich.ts';
import {
  type ChainSurroundings,
  type FollowedChain,
  followBlocks,
  sayWhy,
} from './followedChain.ts';
import { notFound } from './http/answers.ts';
import type { AptosCalls } from './http/handlers/aptosBlocks.ts';
import { createAptosSource } from './ingest/aptos.ts';
import { createAptosReader } from './ingest/aptosCoins.ts';

export interface FollowedAptos extends FollowedChain<AptosCalls> {
  readonly enrich: AptosEnrich;
}

const NAMES = {
  mainnet: { name: 'Aptos', code: 'APT' },
  testnet: { name: 'Aptos Testnet', code: 'APTTEST' },
  devnet: { name: 'Aptos Devnet', code: 'APTDEV' },
  local: { name: 'Aptos, local', code: 'APTLOCAL' },
} as const;

export function followAptos(
  { network, urls, streams, pollMs, resetWhenReplaced }: AptosConfig,
  { matching, ...surroundings }: ChainSurroundings & { matching: AptosMatching },
): FollowedAptos {
  const chain = toAptosChain(network);
  const { store, log } = surroundings;
  const source = createAptosSource({ network, urls, streams, pollMs, log });
  const enrich = createAptosEnrich({
    chain,
    store,
    reader: createAptosReader(source),
    log,
    // They were counted when they were created.
    onDeliveries: (changed) =>
      surroundings.onDeliveries(changed.filter(({ state }) => state === 'quarantined')),
  });
  const {
    chain: followed,
    calls,
    readBlock,
  } = followBlocks(
    {
      chain,
      names: NAMES[network],
      flag: '--aptos',
      // A block is final when it is there.
      confirmations: 0,
      isFinal: true,
      resetWhenReplaced,
    },
    {
      source,
      live: matching.live,
      open: (streamId) => matching.open(chain, streamId),
      enrich,
      surroundings,
    },
  );

  const own: Omit<FollowedAptos, keyof typeof followed> = {
    enrich,
    calls: {
      ...calls,
      heightOf: (version) =>
        sayWhy(chain, async () => {
          const height = await source.readHeightOf(version);
          if (height === undefined) throw notFound('Version');
          return height;
        }),
      dryRun: (blockNumber, record, addresses) =>
        sayWhy(chain, async () => {
          const matcher = matching.try(chain, record, addresses);
          const block = await readBlock(blockNumber, matcher.needs);
          const seen = matcher.countSeenPaths(block);
          const found = await matcher.toWebhook(block);
          if (found === undefined) return { webhook: null, seen };
          const { streamId, tag, network: name, block: its, ...rest } = found;
          return {
            webhook: { streamId, tag, network: name, block: its, retries: 0, ...rest },
            seen,
          };
        }),
    },
  };
  return Object.assign(followed, own);
}
