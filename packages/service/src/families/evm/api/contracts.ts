/** Describes the contract at an address: its token, if any, and its ABI from the ABI source. */
import type { AbiSource } from '../chains/abiSource.ts';
import { HttpError } from '../../../api/httpErrors.ts';
import type { Handlers } from '../../../api/handlers.ts';
import type { EvmCalls } from '../chains/calls.ts';
import { chainNotRead } from '../../../api/calls/chains/findChain.ts';
import { flagOf } from '../../../config/settings.ts';

export interface ContractHandlerNeeds {
  abiSource: AbiSource;
  /** Returns the functions that query the nodes of a chain; undefined if the chain is not read. */
  callsOf(chain: string): EvmCalls | undefined;
}

export function createContractHandlers({ abiSource, callsOf }: ContractHandlerNeeds) {
  const read = (chain: string, address: string) =>
    abiSource.read(chain, address).catch((error: Error) => {
      throw new HttpError(503, error.message);
    });

  return {
    async getContract({ params: { chainId: chain, address } }) {
      const calls = callsOf(chain);
      if (calls === undefined) throw chainNotRead(chain);
      const { isContract, token } = await calls.readContract(address);
      if (token === null) return { isContract, token };
      const { name, symbol, decimals, standard } = token;
      return { isContract, token: { name, symbol, decimals, standard } };
    },
    async getContractAbi({ params: { chainId: chain, address } }) {
      if (!abiSource.chains.includes(chain)) {
        throw new HttpError(
          400,
          `No ABI source for ${chain}: start the service with ${flagOf('abiUrls')} ${chain}=https://…/{address}`,
        );
      }
      // If the address of a proxy's implementation cannot be read, the response has only the ABI of
      // the proxy.
      const implementation = await callsOf(chain)
        ?.readImplementation(address)
        .catch(() => undefined);
      const own = await read(chain, address);
      const behind = implementation === undefined ? undefined : await read(chain, implementation);
      if (own === undefined && behind === undefined) {
        throw new HttpError(
          404,
          `${abiSource.hostOf(chain)} has no verified contract at ${address}`,
        );
      }
      const items = new Map(
        [...(own ?? []), ...(behind ?? [])].map((item) => [JSON.stringify(item), item]),
      );
      return {
        abi: [...items.values()],
        implementation: implementation ?? null,
        source: abiSource.hostOf(chain),
      };
    },
  } satisfies Partial<Handlers>;
}
