/** Follows one Aptos network. */
import { toAptosChain } from '@sluice/kit/contract';
import type { AptosMatching } from './matching.ts';
import type { AptosConfig } from '../config/networks.ts';
import { type AptosEnrich, createAptosEnrich } from '../enrich/enrich.ts';
import {
  type ChainDependencies,
  type FollowedChain,
  followChain,
  toForkRules,
  withReason,
} from '../../../chains/followedChain.ts';
import { CallerError } from '../../../base/errors.ts';
import type { AptosCalls } from './calls.ts';
import { createAptosSource } from '../ingest/aptos.ts';
import { createAptosReader } from '../ingest/coins.ts';
import { flagOf } from '../../../config/settings.ts';

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
  config: AptosConfig,
  { matching, ...dependencies }: ChainDependencies & { matching: AptosMatching },
): FollowedAptos {
  const { network, urls, addedNodes = [], streams, pollMs } = config;
  const chain = toAptosChain(network);
  const { store, log, nodeGuard } = dependencies;
  const source = createAptosSource({
    network,
    urls,
    streams,
    pollMs,
    log,
    added: { nodes: addedNodes, connect: nodeGuard.connect },
  });
  const enrich = createAptosEnrich({
    chain,
    store,
    reader: createAptosReader(source),
    log,
  });
  const followed = followChain(
    {
      chain,
      names: NAMES[network],
      flag: flagOf('aptos'),
      // Blocks are final as soon as they exist.
      confirmations: 0,
      isFinal: true,
      ...toForkRules(config, network !== 'local'),
    },
    { source, matching, enrich, dependencies },
  );
  const calls = withReason(chain, {
    async heightOf(version: number) {
      const height = await source.readHeightOf(version);
      if (height === undefined) throw new CallerError('not_found', 'Version not found');
      return height;
    },
  });
  return Object.assign(followed, { enrich, calls: { ...followed.calls, ...calls } });
}
