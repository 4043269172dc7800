import type { FormParts } from '../../formPart.ts';
import { AddressHints } from './addressHints.tsx';
import { TriggersPart } from './triggersPart.tsx';
import { EvmSelection } from './selection.tsx';

export const EVM_FORM_PARTS: FormParts = {
  Selection: EvmSelection,
  Additions: TriggersPart,
  AddressHints,
};
