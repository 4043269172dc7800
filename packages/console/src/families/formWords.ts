/** Composes the texts of the form that depend on the chain family. */
import type { NetworkType } from '@sluice/kit';
import { APTOS_FORM_WORDS } from './aptos/formWords.ts';
import { EVM_FORM_WORDS } from './evm/formWords.ts';
import type { FormText } from './formText.ts';

export const FORM_WORDS: Readonly<Record<NetworkType, FormText>> = {
  evm: EVM_FORM_WORDS,
  aptos: APTOS_FORM_WORDS,
};

/** An address for examples: the first account of a local chain. */
export { LOCAL_ACCOUNT } from './evm/examples.ts';
