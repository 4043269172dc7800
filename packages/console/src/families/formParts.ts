/** Composes the parts of the form that depend on the chain family. */
import type { NetworkType } from '@sluice/kit';
import { APTOS_FORM_PARTS } from './aptos/routes/formParts.ts';
import { EVM_FORM_PARTS } from './evm/routes/formParts.ts';
import type { FormParts } from './formPart.ts';

export const FORM_PARTS: Readonly<Record<NetworkType, FormParts>> = {
  evm: EVM_FORM_PARTS,
  aptos: APTOS_FORM_PARTS,
};
