/** One EVM chain that is read. */
import type { ChainConfig } from './config.ts';
import { type Enrich, createEnrich } from './enrich/enrich.ts';
import {
  type ChainSurroundings,
  type FollowedChain,
  followBlocks,
  sayWhy,
} from './followedChain.ts';
import type { ChainCalls } from './http/handlers/blocks.ts';
import { createEvmSource } from './ingest/evm.ts';
import { createStateReader } from './ingest/state.ts';
import { isToken } from './enrich/tokenCache.ts';
import { findContract, readImplementation } from './ingest/contracts.ts';
import { readName } from './ingest/names.ts';
import type { Matching } from './matching.ts';

export interface FollowedEvm extends FollowedChain<ChainCalls> {
  readonly enrich: Enrich;
}

export function followEvm(
  config: ChainConfig,
  {
    matching,
    maxWebhookBytes,
    ...surroundings
  }: ChainSurroundings & { matching: Matching; maxWebhookBytes: number },
): FollowedEvm {
  const { id: chain, urls, pollMs, acceptUnverified } = config;
  const { store, log } = surroundings;
  const source = createEvmSource({ chain, urls, pollMs, acceptUnverified, log });
  const enrich = createEnrich({
    chain,
    store,
    state: createStateReader(source),
    log,
    maxWebhookBytes,
    // They were counted when they were created; what is set aside waits no more.
    onDeliveries: (changed) =>
      surroundings.onDeliveries(changed.filter(({ state }) => state === 'quarantined')),
  });
  const {
    chain: followed,
    calls,
    readBlock,
    isConfirmed,
  } = followBlocks(
    {
      chain,
      confirmations: config.confirmations,
      resetWhenReplaced: config.resetWhenReplaced,
    },
    {
      source,
      live: matching.live,
      open: (streamId) => matching.open(chain, streamId),
      enrich,
      surroundings,
    },
  );

  const own: Omit<FollowedEvm, keyof typeof followed> = {
    enrich,
    calls: {
      ...calls,
      readImplementation: (address) => readImplementation(source, address),
      readName: (name) => sayWhy(chain, () => readName(source, name)),
      readContract: (address) =>
        sayWhy(chain, async () => {
          const block = await findContract(source, address);
          if (block === undefined) return { isContract: false, token: null };
          const token = await enrich.readToken(block, address);
          return { isContract: true, token: token && isToken(token) ? token : null };
        }),
      dryRun: (blockNumber, record, addresses) =>
        sayWhy(chain, async () => {
          const matcher = matching.try(chain, record, addresses);
          // With its logs, whatever the stream sends: what its addresses had is told of them.
          const needs = { ...matcher.needs, logs: true };
          const block = await readBlock(blockNumber, needs);
          const near = matcher.findNearMisses(block);
          const seen = matcher.countSeenEvents(block);
          const found = await matcher.toWebhook(block);
          if (found === undefined) return { webhook: null, near, seen };
          const { chainId, abi, streamId, tag, ...rest } = found;
          const confirmed = isConfirmed(block);
          return {
            webhook: { confirmed, chainId, abi, streamId, tag, retries: 0, ...rest },
            near,
            seen,
          };
        }),
    },
  };
  return Object.assign(followed, own);
}
