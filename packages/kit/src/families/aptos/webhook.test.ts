/** Tests webhooks of Aptos streams, from the request to the rows. */
import { describe, expect, it } from 'vitest';
import { TEST_APTOS_WEBHOOK } from './testWebhook.ts';
import type { AptosWebhook } from '../../contract/shapes.generated.ts';
import { isSluiceError } from '../../errors.ts';
import { toRecords } from '../../records/index.ts';
import { createHandler } from '../../webhooks/handler/handler.ts';
import {
  createFakeSender,
  sampleAptosWebhook,
  sampleWebhook,
  signedRequest,
} from '../../webhooks/testing.ts';
import { unwrap } from '../../webhooks/unwrap.ts';
import { isAptosWebhook } from './webhook.ts';
import type { ReceivedAptosWebhook } from './webhook.ts';

const secret = 'whs_aptos';

const requestOf = async (webhook: AptosWebhook) => {
  const request = signedRequest({ webhook, secret });
  return { headers: request.headers, body: await request.text(), secret };
};

describe('unwrap', () => {
  it('accepts a webhook of the requested family, and names it when rejecting another', async () => {
    const given = await requestOf(sampleAptosWebhook('coin-transfer'));
    const received: ReceivedAptosWebhook = unwrap({ ...given, family: 'aptos' });
    expect(received).toMatchObject({ isTest: false, verifiedBy: 'webhook-signature' });
    expect(received.webhook.coinDeposits[0]?.valueWithDecimals).toBe(1.5);
    expect(unwrap({ ...given, family: 'any' }).webhook).toEqual(received.webhook);
    for (const family of [undefined, 'evm'] as const) {
      try {
        unwrap({ ...given, family });
        expect.unreachable();
      } catch (error) {
        expect(isSluiceError(error, 'invalid_webhook')).toBe(true);
        expect(error).toMatchObject({
          message: expect.stringContaining('not a webhook of an EVM stream') as string,
          hint: "Set family to 'aptos', or use this URL only for EVM streams.",
        });
      }
    }
  });

  it('recognizes the Aptos test webhook', async () => {
    const given = await requestOf(TEST_APTOS_WEBHOOK);
    expect(unwrap({ ...given, family: 'any' }).isTest).toBe(true);
  });

  it('distinguishes the families', () => {
    expect(isAptosWebhook(sampleAptosWebhook('coin-transfer'))).toBe(true);
    expect(isAptosWebhook(sampleAptosWebhook('test'))).toBe(true);
    expect(isAptosWebhook(sampleWebhook('erc20-transfer'))).toBe(false);
  });
});

describe('a handler', () => {
  it('passes Aptos webhooks only to onAptosWebhook, each once', async () => {
    const aptos: string[] = [];
    const evm: string[] = [];
    const handler = createHandler({ secret })
      .onAptosWebhook(({ network, coinTransfers }, { id }) => {
        aptos.push(`${network} ${coinTransfers[0]?.value} ${id}`);
      })
      .onWebhook(({ chainId }) => {
        evm.push(chainId);
      });
    const sender = createFakeSender({ to: handler, secret });
    const webhook = sampleAptosWebhook('coin-transfer');
    const { id, delivered } = await sender.send(webhook);
    await sender.send(webhook, { id });
    expect(delivered).toBe(true);
    await sender.send(sampleWebhook('native-transfer'));
    await sender.send(sampleAptosWebhook('test'));
    expect(aptos).toEqual([`mainnet 150000000 ${id}`]);
    expect(evm).toEqual(['0x1']);
  });

  it('responds 500 if onAptosWebhook throws, so that the webhook is sent again', async () => {
    let calls = 0;
    const handler = createHandler({ secret, onError: () => {} }).onAptosWebhook(() => {
      calls += 1;
      if (calls === 1) throw new Error('not now');
    });
    const sender = createFakeSender({ to: handler, secret });
    const { attempts } = await sender.send(sampleAptosWebhook('coin-transfer'));
    expect(attempts.map(({ status }) => status)).toEqual([500, 200]);
  });
});

describe('records', () => {
  const txHash = `0x${'5'.repeat(64)}`;
  const event = (n: number) => ({ type: '0x1::a::B', data: { n: String(n) }, txHash });

  it('are rows by kind with stable ids', () => {
    const webhook = sampleAptosWebhook('coin-transfer', { events: [[event(1), event(2)]] });
    const rows = toRecords(webhook);
    expect(toRecords({ ...webhook, retries: 3 })).toEqual(rows);
    expect(rows.collectionName).toBe('Sample');
    expect(rows.coinDeposits).toEqual([
      {
        id: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string,
        network: 'mainnet',
        blockNumber: 27_827_628,
        blockHash: webhook.block.hash,
        blockTimestamp: 1_674_578_824_913_485,
        transactionHash: webhook.coinDeposits[0]?.txHash,
        value: '150000000',
        coinType: `0x${'a'.padStart(64, '0')}`,
        coinName: 'Aptos Coin',
        coinSymbol: 'APT',
        coinDecimals: 8,
        address: webhook.coinDeposits[0]?.address,
        sequenceNumber: '0',
      },
    ]);
    expect(rows.events.map(({ eventIndex, data }) => [eventIndex, data])).toEqual([
      [0, '{"n":"1"}'],
      [1, '{"n":"2"}'],
    ]);
    const kinds = [
      rows.transactions,
      rows.coinTransfers,
      rows.coinDeposits,
      rows.coinWithdrawals,
      rows.events,
    ];
    const ids = kinds.flat().map(({ id }) => id);
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
  });

  it('are the same if all events are in one list, as the hosted SDK types them', () => {
    const nested = sampleAptosWebhook('coin-transfer', { events: [[event(1)], [event(2)]] });
    const flat = { ...nested, events: [event(1), event(2)] } as unknown as AptosWebhook;
    expect(toRecords(flat)).toEqual(toRecords(nested));
  });
});
