import type { FormParts } from '../../formPart.ts';
import { AddressHints } from './addressHints.tsx';
import { EventRules } from './eventRules.tsx';
import { ReadsPart } from './readsPart.tsx';

export const EVM_FORM_PARTS: FormParts = {
  Selection: EventRules,
  Additions: ReadsPart,
  AddressHints,
};
