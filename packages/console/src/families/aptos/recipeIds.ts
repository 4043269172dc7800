export const APTOS_RECIPE_IDS = ['aptos'] as const;
