/** Composes how drafts are read, checked and sent. */
import type { NetworkType } from '@sluice/kit';
import { APTOS_DRAFTS } from './aptos/draftFamily.ts';
import type { DraftFamily } from './draftFamily.ts';
import { EVM_DRAFTS } from './evm/draftFamily.ts';

export const DRAFT_FAMILIES: Readonly<Record<NetworkType, DraftFamily>> = {
  evm: EVM_DRAFTS,
  aptos: APTOS_DRAFTS,
};
