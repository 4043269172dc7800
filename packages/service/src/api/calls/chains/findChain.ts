import { describeNodeFlag, nameOfChain } from '@sluice/kit/contract';
import { HttpError } from '../../answers.ts';

export const notRead = (chain: string): HttpError =>
  new HttpError(
    400,
    `No source for ${nameOfChain(chain)}: start the service with ${describeNodeFlag(chain)}`,
  );
