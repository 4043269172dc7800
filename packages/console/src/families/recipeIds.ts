/** Composes the ids of the recipes, which links contain. */
import { APTOS_RECIPE_IDS } from './aptos/recipeIds.ts';
import { EVM_RECIPE_IDS } from './evm/recipeIds.ts';

export const RECIPE_IDS = [...EVM_RECIPE_IDS, ...APTOS_RECIPE_IDS] as const;
export type RecipeId = (typeof RECIPE_IDS)[number];
