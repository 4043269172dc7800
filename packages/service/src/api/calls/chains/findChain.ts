import { describeNodeFlag, nameOfChain } from '@sluice/kit/contract';
import { HttpError } from '../../httpErrors.ts';

export const chainNotRead = (chain: string): HttpError =>
  new HttpError(
    400,
    `No source for ${nameOfChain(chain)}: start the service with ${describeNodeFlag(chain)}`,
  );
