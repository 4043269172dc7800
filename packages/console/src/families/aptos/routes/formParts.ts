import type { FormParts } from '../../formPart.ts';
import { MovePaths } from './movePaths.tsx';

const Nothing = () => null;

export const APTOS_FORM_PARTS: FormParts = {
  Selection: MovePaths,
  Additions: Nothing,
  AddressHints: Nothing,
};
