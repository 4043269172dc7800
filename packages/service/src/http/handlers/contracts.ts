/** What is at an address: a token perhaps, and its ABI where the operator named who verifies contracts. */
import type { Context } from 'hono';
import { type Contract, type ContractAbi, toAddress } from '@sluice/kit/contract';
import type { AbiSource } from '../../abiSource.ts';
import { HttpError, validationFailed } from '../answers.ts';
import type { ChainCalls } from './blocks.ts';
import { notRead, readChain } from './findChain.ts';

export interface ContractHandlers {
  get(context: Context): Promise<Response>;
  getAbi(context: Context): Promise<Response>;
}

export interface ContractHandlerNeeds {
  abiSource: AbiSource;
  /** Undefined for a chain that is not read. */
  callsOf(chain: string): ChainCalls | undefined;
}

export function createContractHandlers({
  abiSource,
  callsOf,
}: ContractHandlerNeeds): ContractHandlers {
  const read = (chain: string, address: string) =>
    abiSource.read(chain, address).catch((error: Error) => {
      throw new HttpError(503, error.message);
    });

  const readPlace = (context: Context): { chain: string; address: string } => {
    const chain = readChain(context, 'chainId');
    const given = context.req.param('address') ?? '';
    const address = toAddress(given);
    if (address === undefined) {
      const message = 'should be an address, 0x and 40 hex digits';
      throw validationFailed('path', [{ path: ['address'], message }], { address: given });
    }
    return { chain, address };
  };

  return {
    async get(context) {
      const { chain, address } = readPlace(context);
      const calls = callsOf(chain);
      if (calls === undefined) throw notRead(chain);
      const { isContract, token } = await calls.readContract(address);
      if (token === null) return context.json({ isContract, token } satisfies Contract);
      const { name, symbol, decimals, standard } = token;
      return context.json({
        isContract,
        token: { name, symbol, decimals, standard },
      } satisfies Contract);
    },
    async getAbi(context) {
      const { chain, address } = readPlace(context);
      if (!abiSource.chains.includes(chain)) {
        throw new HttpError(
          400,
          `No source of ABIs for ${chain}: start the service with --abi-url ${chain}=https://…/{address}`,
        );
      }
      // A chain that does not tell what stands behind a proxy hinders nobody.
      const implementation = await callsOf(chain)
        ?.readImplementation(address)
        .catch(() => undefined);
      const own = await read(chain, address);
      const behind = implementation === undefined ? undefined : await read(chain, implementation);
      if (own === undefined && behind === undefined) {
        throw new HttpError(
          404,
          `${abiSource.hostOf(chain)} knows no verified contract at ${address}`,
        );
      }
      const items = new Map(
        [...(own ?? []), ...(behind ?? [])].map((item) => [JSON.stringify(item), item]),
      );
      return context.json({
        abi: [...items.values()],
        implementation: implementation ?? null,
        source: abiSource.hostOf(chain),
      } satisfies ContractAbi);
    },
  };
}
