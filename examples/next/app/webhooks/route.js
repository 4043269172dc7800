import { createHandler } from '@sluice/kit';

export const POST = createHandler({ secret: process.env.SLUICE_SECRET }).onWebhook(
  ({ block, erc20Transfers }) => {
    console.log('block', block.number, erc20Transfers.length, 'transfers');
  },
);
