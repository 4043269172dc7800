/** The error for an invalid address. */
import { cutText } from '@sluice/kit/contract';
import { HttpError } from '../../httpErrors.ts';
import type { AddressFormat } from '../../family.ts';

const ECHO_LIMIT = 200;

export const invalidAddress = (
  { should }: AddressFormat,
  field: string,
  value: string,
): HttpError =>
  new HttpError(400, 'Invalid address provided', {
    [field]: {
      message: `should be ${should}`,
      value: cutText(value, ECHO_LIMIT),
    },
  });
