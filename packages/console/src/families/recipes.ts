/** Composes the recipes, which fill in the form of a new stream. */
import type { NetworkType } from '@sluice/kit';
import type { Recipe } from '../routes/newStream/recipe.ts';
import { APTOS_RECIPES } from './aptos/recipes.ts';
import { EVM_RECIPES } from './evm/recipes.ts';

const RECIPES_BY_FAMILY: Readonly<Record<NetworkType, readonly Recipe[]>> = {
  evm: EVM_RECIPES,
  aptos: APTOS_RECIPES,
};

export const RECIPES: readonly Recipe[] = Object.values(RECIPES_BY_FAMILY).flat();
