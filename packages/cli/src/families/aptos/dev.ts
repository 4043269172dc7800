/** The local Aptos chain of `sluice dev`, with sample payments. */
import { randomInt } from 'node:crypto';
import { startAptosActivity, startScriptedAptos } from '@sluice/testkit';
import type { Client } from '@sluice/kit';
import type { AptosNetwork } from '@sluice/kit/sluice';
import type { LocalFamily, LocalNeeds } from '../../dev/localFamily.ts';

const DEMO_TAG = 'demo-aptos';
/** Payment functions that the demo stream matches. */
const PAYMENTS = ['0x1::aptos_account::transfer', '0x1::coin::transfer'];

/**
 * Starts a scripted chain, because no package contains an Aptos node, unless the service reads real
 * chains. Each run has a random chain id, so that the service recognizes a new chain and starts
 * over.
 */
export async function startLocalAptos({ config }: LocalNeeds): Promise<LocalFamily> {
  const node =
    config.aptos.length === 0
      ? await startScriptedAptos({ chainId: randomInt(5, 250) })
      : undefined;
  const activity = node && startAptosActivity({ ledger: node, perSecond: 1 });
  if (node !== undefined) config.aptos.push({ network: 'local', urls: [node.url], pollMs: 250 });
  const networks = config.aptos.map(({ network }) => network);
  return {
    freshChains: ['aptos:local'],
    rows:
      node === undefined
        ? [['Aptos', networks.join(', '), 'read from your nodes']]
        : [
            ['Aptos', `simulated at ${node.url}, starts over with each run`],
            ['', 'to read a real chain:', '--aptos testnet=<fullnodeUrl>'],
          ],
    keepDemoStream: (client, webhookUrl) => keepDemoStream(networks, client, webhookUrl),
    // Starts before the service, so that the chain has payments at once.
    startActivity: () => undefined,
    async stop() {
      activity?.stop();
      await node?.stop();
    },
  };
}

/**
 * Creates the stream for all Aptos payments, or updates the webhook URL and the networks of the
 * existing stream.
 */
async function keepDemoStream(
  networks: AptosNetwork[],
  client: Client,
  webhookUrl: string,
): Promise<void> {
  const networkType = 'aptos';
  for await (const stream of client.streams.list({ networkType })) {
    if (stream.tag !== DEMO_TAG) continue;
    const change = { networkType, webhookUrl, network: networks } as const;
    await client.streams.update(stream.id, change);
    return;
  }
  await client.streams.create({
    networkType,
    webhookUrl,
    description: 'Payments on Aptos',
    tag: DEMO_TAG,
    network: networks,
    functions: PAYMENTS,
    allAddresses: true,
  });
}
