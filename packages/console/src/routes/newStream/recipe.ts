import type { NetworkType } from '@sluice/kit';
import type { RecipeId } from '../../families/recipeIds.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';
import type { PictureName } from './pictures.tsx';

/** A field that a recipe leaves to the user, named as in the form's `data-field` attributes. */
export type FieldToFill =
  | 'addresses'
  | 'amount'
  | 'events'
  | 'functions'
  | 'factory'
  | 'contract'
  | 'threshold'
  | 'destination';

export interface Recipe {
  id: RecipeId;
  title: string;
  /** Instruction for the user, and a summary of what the stream watches. */
  text: string;
  picture: PictureName;
  /** A record that such a stream could send, in one line. */
  example: string;
  family: NetworkType;
  toFill: readonly FieldToFill[];
  /** Webhook URL of the recipe, or an example to edit; undefined to keep the draft's. */
  webhookUrl?: string;
  /** Returns a name for the stream. `subject` names the address if the stream has only one. */
  name: (subject?: string) => string;
  /** Adds the recipe's rules to a draft without rules. */
  fill: (draft: StreamDraft) => StreamDraft;
}
