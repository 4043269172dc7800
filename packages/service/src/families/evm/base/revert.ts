/** Reads the revert data that Solidity writes for `require`, `revert` and failed checks. */
import { compileParameters } from '@sluice/kit/contract';
import { cleanLine } from '../../../base/foreignText.ts';

const ERROR = '0x08c379a0'; // Error(string)
const textOfError = compileParameters([{ name: 'text', type: 'string' }])!;
const PANIC = '0x4e487b71'; // Panic(uint256)
const codeOfPanic = compileParameters([{ name: 'code', type: 'uint256' }])!;

export type SolidityRevert = { kind: 'error'; text: string } | { kind: 'panic'; code: bigint };

/** Returns undefined for a custom error, and for other data. */
export function readRevert(data: string): SolidityRevert | undefined {
  const body = `0x${data.slice(ERROR.length)}`;
  try {
    if (data.startsWith(ERROR)) {
      const [text] = textOfError.decode(body) as [string];
      return { kind: 'error', text: cleanLine(text) };
    }
    if (data.startsWith(PANIC)) {
      const [code] = codeOfPanic.decode(body) as [bigint];
      return { kind: 'panic', code };
    }
  } catch {
    // The data does not match its selector.
  }
  return undefined;
}
