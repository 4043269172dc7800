/** Composes the chain families. Apart from the configuration, only this file names them. */
import { type ChainFamily, familyOf } from '@sluice/kit/contract';
import type { AppNeeds } from '../api/app.ts';
import type { ChainDependencies } from '../chains/followedChain.ts';
import type { FindChain, OpenNode } from '../chains/testNode.ts';
import type { Config } from '../config/config.ts';
import type { ReadChainAndPhase } from '../deliver/destinations/inbox/inbox.ts';
import type { StreamOfFamily, StreamRecord } from '../store/streams/contract.ts';
import { APTOS } from './aptos/aptos.ts';
import { EVM } from './evm/evm.ts';
import type { Family, OpenFamily } from './family.ts';

export const FAMILIES = { evm: EVM, aptos: APTOS } satisfies Readonly<{
  [Name in ChainFamily]: Family<StreamOfFamily<Name>, OpenFamily>;
}>;

const ALL: readonly Family<StreamRecord, OpenFamily>[] = Object.values(FAMILIES);

/** Base URLs of the explorers of known chains. */
export const EXPLORERS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...ALL.map(({ explorers }) => explorers),
);

export const openNode: OpenNode = (node, guard) =>
  FAMILIES[familyOf(node.chainId)].openNode(node, guard);

/** Asks a node which chain it serves, as a node of each family in turn. */
export const findChain: FindChain = async (url, guard) => {
  const failures: unknown[] = [];
  for (const family of ALL) {
    try {
      const chainId = await family.findChain(url, guard);
      if (chainId !== undefined) return chainId;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === ALL.length) throw failures[0];
  return undefined;
};

export const readChainAndPhase: ReadChainAndPhase = (webhook) => {
  for (const family of ALL) {
    const place = family.readChainAndPhase(webhook);
    if (place !== undefined) return place;
  }
  throw new TypeError('the webhook belongs to no chain family');
};

export type OpenFamilies = ReturnType<typeof openFamilies>;

export const openFamilies = (config: Config, dependencies: ChainDependencies) => ({
  evm: EVM.open(config, dependencies),
  aptos: APTOS.open(config, dependencies),
});

/** Returns what the API needs of the open families. */
export const toApiParts = ({
  evm,
  aptos,
}: OpenFamilies): Pick<
  AppNeeds,
  'families' | 'abiChains' | 'createFamilyHandlers' | 'resolveQuery'
> => ({
  families: FAMILIES,
  abiChains: evm.abiChains,
  resolveQuery: evm.resolveQuery,
  createFamilyHandlers: (needs) => ({
    ...evm.createHandlers(needs),
    ...aptos.createHandlers(needs),
  }),
});

/** Does work before the first request that would block the event loop during one. */
export const prepareApi = ({ evm }: OpenFamilies): void => evm.prepareApi();
