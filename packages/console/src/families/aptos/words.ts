/** Recognizes pasted text about Aptos. */
import type { PastedOfFamily } from '../../words/pasted.ts';

const ADDRESS = /^0x[0-9a-fA-F]{1,64}$/;
const MOVE_PATH = /^0x[0-9a-fA-F]{1,64}::\w+::\w+(<.*>)?$/;
const NAME = /^[^\s.,;:/\\]+(\.[^\s.,;:/\\]+)*\.apt$/iu;

export function recognizeAptos(text: string): PastedOfFamily | undefined {
  const family = 'aptos';
  if (MOVE_PATH.test(text)) {
    return {
      kind: 'event',
      family,
      what: 'Move path',
      event: text,
      command: 'Create an Aptos stream for this function',
      detail: text,
    };
  }
  // Short forms such as 0x1 are accounts.
  if (ADDRESS.test(text)) {
    const address = text.toLowerCase();
    return { kind: 'address', family, what: 'Aptos address', address, mayBePart: true };
  }
  if (NAME.test(text)) {
    return {
      kind: 'name',
      family,
      what: 'Aptos name',
      name: text.toLowerCase(),
      isResolved: false,
    };
  }
  return undefined;
}
