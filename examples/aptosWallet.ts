/**
 * An Aptos wallet that prints an account's incoming and outgoing coins. Aptos blocks are final, so
 * every webhook is confirmed. A wallet has no public URL, so it reads them from a feed.
 */
import { createClient, createHandler } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';

const {
  SLUICE_URL: baseUrl = 'http://127.0.0.1:4400',
  SLUICE_API_KEY: apiKey = '',
  SLUICE_SECRET: secret = '',
  // An account of the local chain, with all 64 digits, as in webhooks.
  ACCOUNT: account = '0xee5db35e7cd840e941e3470684b2a76f40ccbf03da2ddfc6bb70939459acd310',
} = process.env;

const handler = createHandler({ secret }).onAptosWebhook((webhook) => {
  const print = (sign: string, moved: typeof webhook.coinDeposits): void => {
    for (const { address, value, valueWithDecimals, coin } of moved) {
      // A webhook contains the movements of all accounts in its transactions, so the condition
      // selects those of one account. Coins are identified by type, because names are not unique.
      if (address === account) console.log(sign, valueWithDecimals ?? value, coin.symbol, coin.type);
    }
  };
  print('+', webhook.coinDeposits);
  print('-', webhook.coinWithdrawals);
});

const { streams } = createClient({ baseUrl, apiKey });
const { id } = await streams.create({
  networkType: 'aptos',
  webhookUrl: 'sluice://feed',
  description: 'my wallet',
  tag: 'wallet',
  network: ['local'],
});
await streams.addAddress(id, account, { networkType: 'aptos' });
await createSluiceClient({ baseUrl, apiKey }).feed(id, { consumer: 'wallet' }).handle(handler);
