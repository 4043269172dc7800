import { HttpError } from '../../answers.ts';

export const notRead = (chain: string): HttpError =>
  new HttpError(400, `No source for ${chain}: start the service with --chain ${chain}=<rpcUrl>`);
