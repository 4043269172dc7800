/** Sample code of a consumer, type-checked against the installed tarball. */
import {
  createClient,
  createHandler,
  decodeLogs,
  isSluiceError,
  verifySignature,
} from '@sluice/kit';
import { toExpress } from '@sluice/kit/express';
import { toFastify } from '@sluice/kit/fastify';
import { toHono } from '@sluice/kit/hono';
import { toNodeListener } from '@sluice/kit/node';
import { toRecords, toRemovedIds } from '@sluice/kit/records';
import { createSluiceClient } from '@sluice/kit/sluice';
import { createFakeSender, sampleWebhook } from '@sluice/kit/testing';
import type { EvmWebhook, Stream } from '@sluice/kit';

const abi = [
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
    ],
  },
] as const;

export function receive(body: string, signature: string): bigint {
  verifySignature({ body, signature, secret: 'secret' });
  const webhook = JSON.parse(body) as EvmWebhook;
  let sum = 0n;
  for (const { name, args } of decodeLogs(webhook, abi).decoded) {
    const known: 'Transfer' = name;
    const value: bigint = args.value;
    if (known) sum += value;
    // @ts-expect-error the event has no such argument: the types are not `any`
    void args.amount;
  }
  for (const row of toRecords(webhook, { abi }).logs) {
    const text: string = row.value;
    sum += BigInt(text);
  }
  return sum;
}

export async function manage(): Promise<Stream | undefined> {
  const client = createClient({ baseUrl: 'http://127.0.0.1:4400', apiKey: 'key' });
  try {
    for await (const stream of client.streams.list()) return stream;
  } catch (error) {
    if (isSluiceError(error) && error.code === 'unauthorized') return undefined;
    throw error;
  }
  return undefined;
}

export const ours = createSluiceClient({ baseUrl: 'http://127.0.0.1:4400', apiKey: 'key' });

export async function consume(): Promise<void> {
  for await (const { webhook, position, ack } of ours.feed('id', { consumer: 'a' })) {
    const logs: EvmWebhook['logs'] = webhook.logs;
    if (position > logs.length) await ack();
  }
  for await (const received of ours.feed('id', { mode: 'each', after: 1, family: 'aptos' })) {
    const network: string = received.webhook.network;
    // @ts-expect-error the mode has no acknowledgements
    void received.ack(network);
  }
}

const handler = createHandler({ secret: 'secret', abi })
  .on('Transfer', ({ args }) => {
    const value: bigint = args.value;
    return value;
  })
  .onRemoved((webhook) => {
    const ids: string[] = toRemovedIds(webhook).logs;
    return ids;
  });
// @ts-expect-error the ABI has no such event
handler.on('Approval', () => undefined);

export const handling = ours.feed('id', { consumer: 'a' }).handle(handler);

export const adapters = [
  toExpress(handler),
  toFastify(handler, { path: '/webhooks' }),
  toHono(handler),
  toNodeListener(handler),
];

export const sent = createFakeSender({ to: handler, secret: 'secret' }).sendPair(
  sampleWebhook('erc20-transfer'),
);

export async function health(): Promise<number> {
  const { data, response } = await ours.listChains().withResponse();
  return data.length + response.status;
}
