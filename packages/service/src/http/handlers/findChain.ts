import type { Context } from 'hono';
import { toChainId } from '@sluice/kit/contract';
import { HttpError, validationFailed } from '../answers.ts';

/** The EVM chain that the path names. */
export function readChain(context: Context, name: 'chainId' | 'id'): string {
  const given = context.req.param(name) ?? '';
  const chain = toChainId(given);
  if (chain === undefined) {
    const message = 'should be a chain id in hex, e.g. 0x1';
    throw validationFailed('path', [{ path: [name], message }], { [name]: given });
  }
  return chain;
}

export const notRead = (chain: string): HttpError =>
  new HttpError(400, `No source for ${chain}: start the service with --chain ${chain}=<rpcUrl>`);
