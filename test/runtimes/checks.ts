/**
 * Runs the kit and returns its results as plain data, which must be equal in every runtime. Uses
 * only web standards, so that it runs wherever the kit does.
 */
import {
  checksumAddress,
  hmacSha256,
  keccak256,
  parseEventSignature,
  signWebhook,
} from '@sluice/kit/contract';
import {
  createClient,
  createHandler,
  decodeLogs,
  isSluiceError,
  unwrap,
  unwrapWithPublicKey,
  verifySignature,
} from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import {
  type SampleKind,
  createKeyPair,
  sampleWebhook,
  signWithPrivateKey,
  signedHeaders,
  signedRequest,
} from '@sluice/kit/testing';

/** Signing secret of the Worker's webhooks. */
export const WORKER_SECRET = 'worker-secret';

const SECRET = 'runtime-secret';
/** The first key pair of RFC 8032, section 7.1. */
const PRIVATE_KEY = 'whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=';
const PUBLIC_KEY = 'whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';
const SENT_AT = new Date('2026-01-02T03:04:05Z');
const KINDS: SampleKind[] = [
  'erc20-transfer',
  'erc20-approval',
  'erc721-transfer',
  'erc1155-transfer',
  'erc1155-batch-transfer',
  'nft-approval-for-all',
  'native-transfer',
  'internal-transfer',
  'call',
  'failed-call',
  'test',
];
const TRANSFER = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
} as const;

/** Returns the error of a call that should fail, as text. */
function failure(act: () => unknown): string {
  try {
    return `no failure: ${String(act())}`;
  } catch (error) {
    return isSluiceError(error) ? `${error.code}: ${error.message}` : `other: ${String(error)}`;
  }
}

/** Writes bigints as strings, so that the results can be sent as JSON. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each)),
  );

export async function runChecks(): Promise<Record<string, unknown>> {
  const results: Record<string, unknown> = {};
  const body = '{"confirmed":false,"chainId":"0x1","tag":"é ☕ \\"q\\"","retries":1,"logs":[]}';

  results['hashes'] = [
    keccak256(''),
    keccak256('é ☕'),
    keccak256(new Uint8Array([0, 255, 1])),
    hmacSha256(new Uint8Array([1, 2, 3]), 'é ☕'),
    checksumAddress('0xcfdf6aaae9f6b927e3736fbd327853b622c5060e'),
    parseEventSignature('Transfer(address,address,uint256)'),
  ];
  results['contract vector'] = signWebhook(body, 'test-secret');
  results['verify'] = [
    verifySignature({ body, signature: signWebhook(body, SECRET), secret: SECRET }),
    failure(() => verifySignature({ body, signature: signWebhook(body, SECRET), secret: 'other' })),
    failure(() =>
      verifySignature({ body: `${body} `, signature: signWebhook(body, SECRET), secret: SECRET }),
    ),
  ];

  for (const kind of KINDS) {
    const webhook = sampleWebhook(kind);
    const request = signedRequest({ webhook, secret: SECRET, id: 'id-1', sentAt: SENT_AT });
    const text = await request.clone().text();
    const received = unwrap({
      body: text,
      headers: request.headers,
      secret: SECRET,
      now: () => SENT_AT.getTime(),
    });
    results[`unwrap ${kind}`] = plain([received.id, received.isTest, received.webhook]);
    results[`decode ${kind}`] = plain(decodeLogs(webhook, [TRANSFER]));
    results[`stale ${kind}`] = failure(() =>
      unwrap({
        body: text,
        headers: request.headers,
        secret: SECRET,
        now: () => SENT_AT.getTime() + 3_600_000,
      }),
    );
  }

  const webhook = sampleWebhook('erc20-transfer');
  const hmac = signedRequest({ webhook, secret: SECRET, id: 'id-1', sentAt: SENT_AT });
  const signed = await signWithPrivateKey(hmac, PRIVATE_KEY);
  const { headers } = signed;
  const text = await signed.text();
  const verifyWith = async (publicKey: string): Promise<unknown> => {
    const now = () => SENT_AT.getTime();
    try {
      return (await unwrapWithPublicKey({ body: text, headers, publicKeys: [publicKey], now })).id;
    } catch (error) {
      return isSluiceError(error) ? error.code : String(error);
    }
  };
  results['public key'] = [
    headers.get('webhook-signature'),
    await verifyWith(PUBLIC_KEY),
    await verifyWith((await createKeyPair()).publicKey),
  ];

  const handled: string[] = [];
  const handler = createHandler({
    secret: SECRET,
    abi: [TRANSFER],
    now: () => SENT_AT.getTime(),
    onError: () => {},
  });
  handler.on('Transfer', {
    unconfirmed: ({ args }) => void handled.push(`unconfirmed ${args.value}`),
    confirmed: ({ args }) => void handled.push(`confirmed ${args.value}`),
  });
  const deliver = async (id: string, confirmed: boolean, secret = SECRET): Promise<number> => {
    const webhook = sampleWebhook('erc20-transfer', { confirmed });
    return (await handler(signedRequest({ webhook, secret, id, sentAt: SENT_AT }))).status;
  };
  results['handler'] = [
    await deliver('one', false),
    await deliver('one', false),
    await deliver('two', true),
    await deliver('three', true, 'wrong'),
    handled,
  ];

  const asked: string[] = [];
  const client = createClient({
    baseUrl: 'http://api.example',
    apiKey: 'a-key-of-many-letters',
    fetch: (input, init) => {
      const { url } = new Request(input);
      asked.push(`${init?.method} ${url} ${new Headers(init?.headers).get('x-api-key')}`);
      const more = !url.includes('cursor');
      const page = {
        result: [{ address: more ? '0x1' : '0x2' }],
        total: 2,
        ...(more && { cursor: 'next' }),
      };
      return Promise.resolve(Response.json(page));
    },
  });
  const addresses: string[] = [];
  for await (const { address } of client.streams.listAddresses('some-id')) addresses.push(address);
  results['client'] = [addresses, asked];

  const acknowledged: unknown[] = [];
  const feedBody = JSON.stringify(webhook);
  const delivery = { id: 'id-1', position: 7, body: feedBody };
  const feedClient = createSluiceClient({
    baseUrl: 'http://api.example',
    fetch: (_, init) => {
      const deliveries = [
        { ...delivery, headers: signedHeaders(feedBody, { secret: SECRET, id: 'id-1' }) },
      ];
      if (init?.method === 'POST') acknowledged.push(JSON.parse(init.body as string));
      return Promise.resolve(Response.json({ deliveries, nextPosition: 7 }));
    },
  });
  for await (const received of feedClient.feed('some-id', { consumer: 'a', secret: SECRET })) {
    await received.ack();
    results['feed'] = plain([received.id, received.position, received.webhook]);
    break;
  }
  results['acknowledged'] = acknowledged;
  return results;
}
