import { erc1155Abi, erc20Abi, erc721Abi } from 'viem';
import { describe, expect, it, vi } from 'vitest';
import { TEST_WEBHOOK } from '../families/evm/testWebhook.ts';
import { decodeLogs } from './decode.ts';
import {
  createFakeSender,
  sampleAptosWebhook,
  sampleWebhook,
  signedHeaders,
  signedRequest,
  type SampleKind,
} from './testing.ts';
import { unwrap } from './unwrap.ts';
import { verifySignature } from './verify.ts';

const SECRET = 'the streams secret';
const KINDS = [
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
  'read',
  'test',
] as const satisfies SampleKind[];

/** Keys of a webhook, in the order in which the service sends them. */
const WIRE_ORDER =
  'confirmed chainId abi streamId tag retries block logs txs txsInternal erc20Transfers erc20Approvals nftTokenApprovals nftApprovals nftTransfers nativeBalances';

describe('sampleWebhook', () => {
  it.each(KINDS)('%s has every key, in wire order, and one record', (kind) => {
    const webhook = sampleWebhook(kind);
    const { calls = [], reads = [] } = webhook;
    const keys = kind === 'test' ? Object.keys(TEST_WEBHOOK) : WIRE_ORDER.split(' ');
    const own = [...(calls.length > 0 ? ['calls'] : []), ...(reads.length > 0 ? ['reads'] : [])];
    expect(Object.keys(webhook)).toEqual([...keys, ...own]);
    const records = [...webhook.logs, ...webhook.txs, ...webhook.txsInternal, ...calls, ...reads];
    expect(records).toHaveLength(kind === 'test' ? 0 : 1);
    expect(JSON.parse(JSON.stringify(webhook))).toEqual(webhook);
  });

  it.each([
    ['erc20-transfer', erc20Abi, 'Transfer', { value: 250_000_000n }],
    ['erc20-approval', erc20Abi, 'Approval', { value: 250_000_000n }],
    ['erc721-transfer', erc721Abi, 'Transfer', { tokenId: 2947n }],
    ['erc1155-transfer', erc1155Abi, 'TransferSingle', { id: 7n, value: 3n }],
    ['erc1155-batch-transfer', erc1155Abi, 'TransferBatch', { ids: [7n, 8n], values: [3n, 4n] }],
    ['nft-approval-for-all', erc1155Abi, 'ApprovalForAll', { approved: true }],
  ] as const)('%s has a log that decodes to its record', (kind, abi, name, args) => {
    const { decoded, undecoded } = decodeLogs(sampleWebhook(kind), abi);
    expect(undecoded).toEqual([]);
    expect(decoded).toMatchObject([{ name, args }]);
  });

  it('names the watched addresses of each record, and the exact fee of a transaction', () => {
    for (const kind of KINDS) {
      const { logs, txs, erc20Transfers } = sampleWebhook(kind);
      for (const record of [...logs, ...txs]) {
        expect(Object.keys(record).at(-1)).toBe('triggered_by');
        expect(JSON.stringify(record)).toContain(record.triggered_by!.join().slice(2));
      }
      for (const transfer of erc20Transfers) {
        expect(Object.keys(transfer).slice(2, 4)).toEqual(['contract', 'triggered_by']);
        expect(transfer.triggered_by).toEqual([transfer.from]);
      }
      for (const { receiptGasUsed, gasPrice, transactionFee } of txs) {
        const wei = BigInt(receiptGasUsed!) * BigInt(gasPrice!);
        expect(BigInt(transactionFee!.replace('0.', '').padEnd(18, '0'))).toBe(wei);
      }
    }
  });

  it('returns a new object each time, with the given fields', () => {
    const one = sampleWebhook('erc20-transfer', { confirmed: false, tag: 'mine' });
    one.logs.length = 0;
    one.block.number = '1';
    const two = sampleWebhook('erc20-transfer');
    expect(one).toMatchObject({ confirmed: false, tag: 'mine' });
    expect(two).toMatchObject({ confirmed: true, block: { number: '16225662' } });
    expect(two.logs).toHaveLength(1);
    expect(sampleWebhook('test')).toEqual(TEST_WEBHOOK);
  });
});

describe('signedRequest', () => {
  it('verifies by both signatures', async () => {
    const webhook = sampleWebhook('erc20-transfer');
    const request = signedRequest({ webhook, secret: SECRET, id: 'my-id' });
    const body = await request.text();
    const { headers } = request;
    expect(request.method).toBe('POST');
    expect(unwrap({ body, headers, secret: SECRET })).toMatchObject({ id: 'my-id', webhook });
    verifySignature({ body, signature: headers.get('x-signature'), secret: SECRET });
    expect(headers.get('x-records-charged')).toBe('1');
  });

  it('has a new id by default, and the given time', async () => {
    const sentAt = new Date(1_800_000_000_000);
    const request = () => signedRequest({ body: '{}', secret: SECRET, sentAt });
    const [one, two] = [request().headers, request().headers];
    expect(one.get('webhook-id')).not.toBe(two.get('webhook-id'));
    expect(one.get('webhook-timestamp')).toBe('1800000000');
  });

  it('counts the records of Aptos webhooks', () => {
    const webhook = sampleAptosWebhook('coin-transfer');
    const { headers } = signedRequest({ webhook, secret: SECRET });
    expect(headers.get('x-records-charged')).toBe('1');
  });

  it('can imitate the hosted service', async () => {
    const webhook = sampleWebhook('native-transfer', { confirmed: false });
    const request = signedRequest({ webhook, secret: SECRET, sender: 'hosted' });
    expect([...request.headers.keys()].filter((name) => name.startsWith('webhook-'))).toEqual([]);
    expect(request.headers.get('x-records-charged')).toBe('0');
    const body = await request.text();
    const options = { body, headers: request.headers, apiKey: SECRET, allowXSignature: true };
    expect(unwrap(options).verifiedBy).toBe('x-signature');
  });

  it('is available as headers alone', () => {
    const headers = signedHeaders('{"streamId":"","logs":[]}', { secret: SECRET });
    expect(unwrap({ body: '{"streamId":"","logs":[]}', headers, secret: SECRET }).isTest).toBe(
      true,
    );
  });
});

describe('createFakeSender', () => {
  const MINUTE = 60_000;
  const WAITS = [1, 10, 60, 120, 360, 720, 1440].map((minutes) => minutes * MINUTE);
  const webhook = sampleWebhook('erc20-transfer');
  const received = async (request: Request) =>
    unwrap({ body: await request.text(), headers: request.headers, secret: SECRET });

  it('sends until a 2xx response, each attempt newly signed with the same id', async () => {
    const seen: { id: string; retries: number }[] = [];
    const { send } = createFakeSender({
      secret: SECRET,
      async to(request) {
        const { id, webhook } = await received(request);
        seen.push({ id, retries: webhook.retries });
        return new Response('thanks', { status: seen.length < 3 ? 500 : 200 });
      },
    });
    const delivery = await send(webhook, { id: 'one' });
    expect(seen).toEqual([0, 1, 2].map((retries) => ({ id: 'one', retries })));
    expect(delivery).toEqual({
      id: 'one',
      delivered: true,
      attempts: [
        { status: 500, body: 'thanks', error: 'HTTP 500', waitMs: 5_000 },
        { status: 500, body: 'thanks', error: 'HTTP 500', waitMs: WAITS[0] },
        { status: 200, body: 'thanks', error: undefined, waitMs: undefined },
      ],
    });
  });

  it.each([
    ['sluice', 302, WAITS],
    ['sluice', 500, [5_000, ...WAITS]],
    ['sluice', 503, [5_000, ...WAITS]],
    ['sluice', 599, [5_000, ...WAITS]],
    ['hosted', 500, WAITS],
  ] as const)('gives up like %s after responses with %d', async (sender, status, waits) => {
    const wait = vi.fn(() => Promise.resolve());
    const to = () => new Response(null, { status });
    const delivery = await createFakeSender({ to, secret: SECRET, sender, wait }).send(webhook);
    expect(delivery.delivered).toBe(false);
    expect(delivery.attempts).toHaveLength(waits.length + 1);
    expect(wait.mock.calls.flat()).toEqual(waits);
  });

  it('retries quickly, once, if there is no response', async () => {
    let calls = 0;
    const to = () =>
      calls++ === 1 ? new Response(null, { status: 404 }) : Promise.reject(new Error('refused'));
    const { attempts } = await createFakeSender({ to, secret: SECRET }).send(webhook);
    expect(attempts.map(({ waitMs }) => waitMs)).toEqual([5_000, ...WAITS, undefined]);
  });

  it.each([
    [503, '120', 2 * MINUTE],
    [429, '120', 2 * MINUTE],
    [429, '1', MINUTE],
    [503, '999999', 1440 * MINUTE],
    [503, 'soon', MINUTE],
    [503, new Date(Date.now() + 10 * 1440 * MINUTE).toUTCString(), 1440 * MINUTE],
    [500, '120', MINUTE],
  ])('responds to %d with Retry-After %s by waiting %d ms', async (status, after, waitMs) => {
    const to = () => new Response(null, { status, headers: { 'retry-after': after } });
    const scheduleMs = [MINUTE];
    const delivery = await createFakeSender({ to, secret: SECRET, scheduleMs }).send(webhook);
    expect(delivery.attempts.map((it) => it.waitMs)).toEqual([waitMs, undefined]);
  });

  it('sends the test webhook once', async () => {
    const to = () => new Response(null, { status: 500 });
    const delivery = await createFakeSender({ to, secret: SECRET }).send(sampleWebhook('test'));
    expect(delivery.attempts).toHaveLength(1);
  });

  it('treats an error and a hanging receiver as failures', async () => {
    const scheduleMs: number[] = [];
    const failing = createFakeSender({
      to: () => Promise.reject(new Error('refused')),
      secret: SECRET,
      scheduleMs,
    });
    const hanging = createFakeSender({
      to: () => new Promise<never>(() => undefined),
      secret: SECRET,
      scheduleMs,
      timeoutMs: 20,
    });
    const [first, second] = await Promise.all([failing.send(webhook), hanging.send(webhook)]);
    expect(first.attempts).toMatchObject([{ status: null, error: 'Error: refused' }]);
    expect(second.attempts).toMatchObject([{ error: 'no complete response within 20 ms' }]);
  });

  it('sends both webhooks of a block', async () => {
    const phases: boolean[] = [];
    const { sendPair } = createFakeSender({
      secret: SECRET,
      async to(request) {
        const { webhook } = await received(request);
        phases.push(webhook.confirmed);
        return new Response('ok');
      },
    });
    const pair = await sendPair(webhook);
    expect(phases).toEqual([false, true]);
    expect(pair.unconfirmed.id).not.toBe(pair.confirmed.id);
    expect([pair.unconfirmed.delivered, pair.confirmed.delivered]).toEqual([true, true]);
  });

  it('sends a removal webhook: the original, marked at the start', async () => {
    const bodies: string[] = [];
    const { sendRemoved } = createFakeSender({
      secret: SECRET,
      async to(request) {
        bodies.push(await request.text());
        return new Response('ok', { status: bodies.length < 2 ? 500 : 200 });
      },
    });
    expect((await sendRemoved(webhook)).delivered).toBe(true);
    const { confirmed: _, ...rest } = webhook;
    const notice = { confirmed: false, removed: true, ...rest };
    expect(bodies).toEqual([notice, { ...notice, retries: 1 }].map((it) => JSON.stringify(it)));
  });
});
