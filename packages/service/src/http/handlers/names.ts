/** What names of ENS stand for, asked of the chains that have them. */
import type { Context } from 'hono';
import type { ResolvedName } from '@sluice/kit/contract';
import { NAME_CHAINS, toName } from '../../ensNames.ts';
import { HttpError, validationFailed } from '../answers.ts';
import type { ChainCalls } from './blocks.ts';

export interface NameNeeds {
  /** Undefined for a chain that is not read. */
  callsOf(chain: string): ChainCalls | undefined;
}

/** @throws HttpError that says for people why it stands for no address. */
export async function resolveName(given: string, { callsOf }: NameNeeds): Promise<ResolvedName> {
  const name = toName(given);
  if (name === undefined) {
    const message = 'should be a name of ENS, e.g. vitalik.eth';
    throw validationFailed('path', [{ path: ['ensName'], message }], { ensName: given });
  }
  const chainId = NAME_CHAINS.find((chain) => callsOf(chain) !== undefined);
  if (chainId === undefined) {
    throw new HttpError(
      400,
      `Names are looked up on Ethereum, which is not read: start the service with --chain ${NAME_CHAINS[0]}=<rpcUrl>, or give the address`,
    );
  }
  const address = await callsOf(chainId)!.readName(name);
  if (address === undefined) throw new HttpError(404, `${name} stands for no address`);
  if (address === 'elsewhere') {
    throw new HttpError(
      404,
      `${name} is told by a server outside of the chain, which is not asked: give the address`,
    );
  }
  return { name, address, chainId };
}

export const createNameHandler =
  (needs: NameNeeds) =>
  async (context: Context): Promise<Response> =>
    context.json(await resolveName(context.req.param('ensName') ?? '', needs));
