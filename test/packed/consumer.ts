/** What a project of somebody else may write; type-checked against the installed tarball. */
import { createClient, decodeLogs, isSluiceError, verifySignature } from '@sluice/kit';
import { toRecords } from '@sluice/kit/records';
import { createSluiceClient } from '@sluice/kit/sluice';
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
