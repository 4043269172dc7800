import { HttpError } from '../../httpErrors.ts';
import type { ApiFamily } from '../../family.ts';

export const chainNotRead = (
  { nameOf, sourceFlag }: Pick<ApiFamily, 'nameOf' | 'sourceFlag'>,
  chain: string,
): HttpError =>
  new HttpError(400, `No source for ${nameOf(chain)}: start the service with ${sourceFlag(chain)}`);
