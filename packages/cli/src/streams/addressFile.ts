import { readFileSync } from 'node:fs';
import type { NetworkType } from '@sluice/kit';
import { type AddressList, parseAddressList } from '@sluice/kit/operator';
import { CommandError } from '../terminal/errors.ts';

/**
 * @param labelColumn name, or number from 1, of the column with the labels
 * @throws CommandError `invalid_file` if the file cannot be read; `usage` if it has no such column.
 */
export function readAddressFile(
  path: string,
  family: NetworkType,
  labelColumn?: string,
): AddressList {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandError('invalid_file', `${path}: ${(error as Error).message}`);
  }
  try {
    return parseAddressList(text, family, labelColumn);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CommandError('usage', `--label-column ${labelColumn}: ${error.message}`);
  }
}
