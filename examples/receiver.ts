import { createServer } from 'node:http';
import { createClient, createHandler } from '@sluice/kit';
import { toNodeListener } from '@sluice/kit/node';

const { SLUICE_API_KEY: apiKey = '', SLUICE_SECRET: secret = '' } = process.env;
const transfer = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
} as const;

// Verifies each webhook, drops duplicates, and calls the function once a block is confirmed.
const handler = createHandler({ secret, abi: [transfer] }).on('Transfer', ({ name, args }) => {
  console.log(name, args.from, args.to, args.value); // the compiler knows that value is a bigint
});
createServer(toNodeListener(handler)).listen(3000);

const client = createClient({ baseUrl: 'http://127.0.0.1:4400', apiKey });
const { id } = await client.streams.create({
  webhookUrl: 'http://127.0.0.1:3000/',
  description: 'my token',
  tag: 'my-token',
  chainIds: ['0x7a69'],
  topic0: ['Transfer(address,address,uint256)'],
  abi: [transfer],
  includeContractLogs: true,
});
await client.streams.addAddress(id, '0x700b6A60ce7EaaEA56F065753d8dcB9653dbAD35');
