/** An Aptos wallet: what comes to an account and leaves it, in any coin. Blocks of Aptos are final. */
import { createServer } from 'node:http';
import { createClient, createHandler } from '@sluice/kit';
import { toNodeListener } from '@sluice/kit/node';

const {
  SLUICE_URL: baseUrl = 'http://127.0.0.1:4400',
  SLUICE_API_KEY: apiKey = '',
  SLUICE_SECRET: secret = '',
  PORT = '3000',
  // An account of the local chain. All 64 digits, as webhooks have them.
  ACCOUNT: account = '0xee5db35e7cd840e941e3470684b2a76f40ccbf03da2ddfc6bb70939459acd310',
} = process.env;

const handler = createHandler({ secret }).onAptosWebhook((webhook) => {
  const tell = (sign: string, moved: typeof webhook.coinDeposits): void => {
    for (const { address, value, valueWithDecimals, coin } of moved) {
      // A webhook has all that the transactions moved. A coin is its type: names can be anybody's.
      if (address === account) console.log(sign, valueWithDecimals ?? value, coin.symbol, coin.type);
    }
  };
  tell('+', webhook.coinDeposits);
  tell('-', webhook.coinWithdrawals);
});
createServer(toNodeListener(handler)).listen(Number(PORT), '127.0.0.1');

const { streams } = createClient({ baseUrl, apiKey });
const { id } = await streams.create({
  networkType: 'aptos',
  webhookUrl: `http://127.0.0.1:${PORT}/webhooks`,
  description: 'my wallet',
  tag: 'wallet',
  network: ['local'],
});
await streams.addAddress(id, account, { networkType: 'aptos' });
