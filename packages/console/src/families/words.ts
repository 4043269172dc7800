/** Composes what the chain families recognize in pasted text. */
import type { NetworkType } from '@sluice/kit';
import type { PastedOfFamily } from '../words/pasted.ts';
import { recognizeAptos } from './aptos/words.ts';
import { recognizeEvm } from './evm/words.ts';

/** Functions that recognize text. EVM is first, because its addresses cannot be shortened. */
const RECOGNIZERS: Readonly<Record<NetworkType, (text: string) => PastedOfFamily | undefined>> = {
  evm: recognizeEvm,
  aptos: recognizeAptos,
};

/** Returns the first family's result; undefined if no family recognizes the text. */
export function recognizeOfFamily(text: string): PastedOfFamily | undefined {
  for (const recognize of Object.values(RECOGNIZERS)) {
    const pasted = recognize(text);
    if (pasted !== undefined) return pasted;
  }
  return undefined;
}

/** Family whose addresses with all digits look like hashes. */
export const FAMILY_OF_HASH: NetworkType = 'aptos';

/** Matches possible chain ids, except in a longer word or in a Move path such as `0x1::coin`. */
export const CHAIN_ID = /(?<![\w:])(?:0x[0-9a-f]+|aptos:[a-z]+)(?!\w|::)/g;
