import type { NetworkType } from '@sluice/kit';
import type { RecipeId } from '../../families/recipeIds.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';

/** A field that a recipe leaves to the user, named as in the form's `data-field` attributes. */
export type FieldToFill = 'addresses' | 'amount' | 'events' | 'factory' | 'contract' | 'threshold';

export interface Recipe {
  id: RecipeId;
  title: string;
  /** Instruction for the user, and a summary of what the stream watches. */
  text: string;
  family: NetworkType;
  toFill: readonly FieldToFill[];
  /** Returns a name for the stream. `subject` names the address if the stream has only one. */
  name: (subject?: string) => string;
  /** Adds the recipe's rules to a draft without rules. */
  fill: (draft: StreamDraft) => StreamDraft;
}
