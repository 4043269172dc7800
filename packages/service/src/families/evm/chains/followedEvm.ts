/** Follows one EVM chain. */
import { findEvmChain } from '@sluice/kit/contract';
import type { ChainConfig } from '../config/chains.ts';
import { type EvmEnrich, createEnrich } from '../enrich/enrich.ts';
import {
  type ChainDependencies,
  type FollowedChain,
  followChain,
  toForkRules,
  withReason,
} from '../../../chains/followedChain.ts';
import type { EvmCalls } from './calls.ts';
import { createEvmSource } from '../ingest/evm.ts';
import { createStateReader } from '../ingest/state.ts';
import { isToken } from '../../../enrich/tokenCache.ts';
import { findContract, readImplementation } from './contracts.ts';
import { createNameReader } from './names.ts';
import type { EvmMatching } from './matching.ts';
import { listWatched } from './reads/watchedAddresses.ts';
import { createReadState } from './reads/readState.ts';
import { type StreamValues, createStreamValues } from './reads/streamValues.ts';
import { createTryReads } from './reads/tryReads.ts';
import { createValueExplainer } from './reads/valueExplainer.ts';
import { takesReads } from '../match/reads.ts';
import { flagOf } from '../../../config/settings.ts';

/** ID of the known chain that is not public: the default of anvil and Hardhat. */
const LOCAL_CHAIN = '0x7a69';

export interface FollowedEvm extends FollowedChain<EvmCalls> {
  readonly enrich: EvmEnrich;
}

export function followEvm(
  config: ChainConfig,
  {
    matching,
    maxWebhookBytes,
    settleMs,
    readAgainAfterMs,
    ...dependencies
  }: ChainDependencies & {
    matching: EvmMatching;
    maxWebhookBytes: number;
    settleMs: number;
    readAgainAfterMs: readonly number[] | undefined;
  },
): FollowedEvm {
  const {
    id: chain,
    urls,
    addedNodes = [],
    pollMs,
    trust,
    operators,
    verifyHeaders,
    warnings = [],
  } = config;
  const { store, log, nodeGuard } = dependencies;
  const known = findEvmChain(chain);
  for (const warning of warnings) log.warn(`${flagOf('chains')} ${warning}`, { chain });
  const source = createEvmSource({
    chain,
    urls,
    pollMs,
    trust,
    settleMs,
    readAgainAfterMs,
    operators,
    verifyHeaders,
    log,
    added: { nodes: addedNodes, connect: nodeGuard.connect },
  });
  const state = createStateReader(source);
  const enrich = createEnrich({
    chain,
    store,
    state,
    log,
    maxWebhookBytes,
  });
  /** Lists the values of streams that watch these addresses instead of their own. */
  const valuesOf = (addresses?: readonly string[]): StreamValues =>
    createStreamValues({
      readToken: enrich.readToken,
      addressesOf: async (record, limits) => {
        if (addresses === undefined) return listWatched(store, chain, record, limits);
        return addresses.length > limits.most ? 'many' : addresses;
      },
    });
  const values = valuesOf();
  const followed = followChain(
    {
      chain,
      names: known,
      flag: flagOf('chains'),
      confirmations: config.confirmations,
      ...toForkRules(config, chain !== LOCAL_CHAIN && known !== undefined),
    },
    {
      source,
      matching,
      enrich,
      dependencies,
      values: {
        isRead: ({ options }) => takesReads(options),
        read: createReadState({ state, values }),
        try: createTryReads({ chain, state, valuesOf }),
        explain: createValueExplainer({ chain, store, values }),
      },
    },
  );
  const calls = withReason(chain, {
    readName: createNameReader(source),
    async readContract(address: string) {
      const block = await findContract(source, address);
      if (block === undefined) return { isContract: false, token: null };
      const token = await enrich.readToken(block, address);
      return { isContract: true, token: token && isToken(token) ? token : null };
    },
  });
  return Object.assign(followed, {
    enrich,
    calls: {
      ...followed.calls,
      ...calls,
      readImplementation: (address: string) => readImplementation(source, address),
    },
  });
}
