/** Applies recipes, which fill in the form of a new stream. */
import { familyOf } from '@sluice/kit/contract';
import type { ListedAddress } from '@sluice/kit/operator';
import type { RecipeId } from '../../families/recipeIds.ts';
import { RECIPES } from '../../families/recipes.ts';
import { DEFAULT_INBOX_URL } from '../../data/inboxes.ts';
import { NEW_DRAFT, type StreamDraft } from '../streamForm/draft/draft.ts';
import { FIELDS } from '../streamForm/draft/plainFields.ts';
import type { TokenUnit } from '../streamForm/draft/tokenAmount.ts';
import { formatHash, formatQuantity } from '../../ui/text/format.ts';
import { withoutTurns } from '../../words/names.ts';
import type { Recipe } from './recipe.ts';

export const recipeOf = (id: RecipeId | undefined): Recipe | undefined =>
  RECIPES.find((recipe) => recipe.id === id);

/** Returns the recipes for the chain families of a service. */
export const recipesFor = (chains: readonly { id: string }[]): readonly Recipe[] =>
  RECIPES.filter(({ family }) => chains.some(({ id }) => familyOf(id) === family));

/** Returns the draft fields that a recipe keeps, because what a stream watches does not affect them. */
const toKept = (draft: StreamDraft): Partial<StreamDraft> =>
  Object.fromEntries(
    Object.entries(draft).filter(
      ([name]) =>
        ['tag', 'description', 'headers', 'oauth2'].includes(name) ||
        FIELDS[name]?.input?.part === 'deliver',
    ),
  );

/**
 * Replaces the rules of a draft with the rules of a recipe, and resets all other fields that define
 * what the stream watches. The webhook URL of the previous recipe is replaced, too, unless the user
 * changed it.
 * @returns the draft, with its chains and addresses if the recipe is for the same chain family.
 */
export function withRecipe(draft: StreamDraft, recipe: Recipe, previous?: Recipe): StreamDraft {
  const { family, fill } = recipe;
  const { chains, addresses } = family === draft.family ? draft : NEW_DRAFT;
  const kept = draft.webhookUrl === previous?.webhookUrl ? DEFAULT_INBOX_URL : draft.webhookUrl;
  const webhookUrl = recipe.webhookUrl ?? kept;
  return fill({ ...NEW_DRAFT, ...toKept(draft), family, chains, addresses, webhookUrl });
}

/**
 * Returns a name for the stream of a recipe, from the label, the token symbol or the shortened form
 * of its address. With several addresses, the name contains their number instead.
 */
export function nameOfRecipe(
  { name }: Recipe,
  rows: readonly ListedAddress[],
  unit: TokenUnit | null,
): string {
  const [row] = rows;
  if (row === undefined) return name();
  if (rows.length > 1) return `${name()} (${formatQuantity(rows.length, 'address', 'addresses')})`;
  // The symbol is untrusted, because the contract chooses it.
  const symbol = withoutTurns(unit?.symbol ?? '');
  return name(row.label || symbol || formatHash(row.address));
}
