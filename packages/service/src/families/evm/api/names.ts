/** Resolves ENS names on the chains that support them. */
import type { ResolvedName } from '@sluice/kit/contract';
import { NAME_CHAINS, toName } from '../chains/ensNames.ts';
import { HttpError, validationFailed } from '../../../api/httpErrors.ts';
import type { Handlers } from '../../../api/handlers.ts';
import type { EvmCalls } from '../chains/calls.ts';
import { flagOf } from '../../../config/settings.ts';

export interface NameNeeds {
  /** Returns the functions that query the nodes of a chain; undefined if the chain is not read. */
  callsOf(chain: string): EvmCalls | undefined;
}

/** Returns the first chain that can resolve names; undefined if no such chain is read. */
export const findNameChain = ({ callsOf }: NameNeeds): string | undefined =>
  NAME_CHAINS.find((chain) => callsOf(chain) !== undefined);

/** @throws HttpError with a readable reason if the name does not resolve. */
async function resolveName(given: string, needs: NameNeeds): Promise<ResolvedName> {
  // Looks for the chain first, because normalizing the name unpacks the Unicode tables.
  const chainId = findNameChain(needs);
  if (chainId === undefined) {
    throw new HttpError(
      400,
      `ENS names resolve on Ethereum, which is not read: start the service with ${flagOf('chains')} ${NAME_CHAINS[0]}=<rpcUrl>, or pass the address`,
    );
  }
  const name = toName(given);
  if (name === undefined) {
    const message = 'should be an ENS name, e.g. vitalik.eth';
    throw validationFailed('path', [{ path: ['ensName'], message }], { ensName: given });
  }
  const address = await needs.callsOf(chainId)!.readName(name);
  if (address === undefined) throw new HttpError(404, `${name} does not resolve to an address`);
  if (address === 'elsewhere') {
    throw new HttpError(
      404,
      `${name} requires an off-chain lookup, which Sluice does not support: pass the address instead`,
    );
  }
  return { name, address, chainId };
}

/** Matches ENS names ending in `.eth`. Only `GET /sluice/names/{ensName}` resolves other names. */
const QUERIED_NAME = /^[^\s/:]+\.eth$/i;

/** Resolves the name in a query; undefined if the query is not a name that ends in `.eth`. */
export const resolveQuery = (query: string, needs: NameNeeds): Promise<ResolvedName> | undefined =>
  QUERIED_NAME.test(query) ? resolveName(query, needs) : undefined;

export const createNameHandler = (needs: NameNeeds) =>
  ({
    resolveName: ({ params: { ensName } }) => resolveName(ensName, needs),
  }) satisfies Partial<Handlers>;
