export const EVM_RECIPE_IDS = [
  'wallet',
  'transfers',
  'payments',
  'events',
  'failed',
  'mints',
] as const;
