export const EVM_RECIPE_IDS = [
  'wallet',
  'transfers',
  'payments',
  'events',
  'failed',
  'mints',
  'pools',
  'balance',
  'value',
] as const;
