export const EVM_RECIPE_IDS = ['wallet', 'transfers', 'payments', 'events', 'mints'] as const;
