/** Composes the draft of a stream of the parts for each chain family. */
import type { NetworkType } from '@sluice/kit';
import { type AptosDraft, NEW_APTOS_DRAFT } from './aptos/draft.ts';
import { type EvmDraft, NEW_EVM_DRAFT } from './evm/draft.ts';

/** Rules, factories and values on chain, which the form describes in words. */
export {
  type Condition,
  EMITTER,
  type FilterRule,
  type Inputs,
  inputsOfCall,
  inputsOfEvent,
  OPERATOR_WORDS,
} from './evm/draft.ts';

export { nameMatchedRule } from './evm/matchedRules.ts';
export { describeRead } from './evm/readWords.ts';
export { describeFactory } from './evm/routes/factories.ts';

export interface FamilyDraft extends EvmDraft, AptosDraft {
  family: NetworkType;
}

export const NEW_FAMILY_DRAFT: FamilyDraft = {
  family: 'evm',
  ...NEW_EVM_DRAFT,
  ...NEW_APTOS_DRAFT,
};
