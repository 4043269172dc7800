import type { Recipe } from '../../routes/newStream/recipe.ts';

export const APTOS_RECIPES: readonly Recipe[] = [
  {
    id: 'aptos',
    title: 'Aptos payments',
    text: 'Paste the address of an account. Watches its payments of APT, coins and fungible assets.',
    picture: 'account',
    example: 'Sent 1.5 APT to treasury',
    family: 'aptos',
    toFill: ['addresses'],
    name: (subject) => (subject === undefined ? 'Aptos payments' : `Aptos payments for ${subject}`),
    fill: (draft) => ({
      ...draft,
      functions: [
        '0x1::aptos_account::transfer',
        '0x1::aptos_account::transfer_coins',
        '0x1::aptos_account::transfer_fungible_assets',
        '0x1::aptos_account::batch_transfer',
        '0x1::coin::transfer',
        '0x1::primary_fungible_store::transfer',
      ].join('\n'),
    }),
  },
];
