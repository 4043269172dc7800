/** The handler that the framework examples share. It prints each confirmed transfer. */
import { createHandler } from '@sluice/kit';

const { SLUICE_SECRET: secret = '' } = process.env;

const transfer = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
} as const;

export const handler = createHandler({ secret, abi: [transfer] }).on(
  'Transfer',
  ({ args, transactionHash }) => {
    console.log('Transfer', args.value, 'to', args.to, 'in', transactionHash);
  },
);
