import { describe, expect, it, vi } from 'vitest';
import type { WebhookRead } from '../contract/shapes.generated.ts';
import { isSluiceError } from '../errors.ts';
import { decodeReads } from './decodeReads.ts';
import { createHandler } from './handler/handler.ts';
import { sampleWebhook, signedRequest } from './testing.ts';

const sample = sampleWebhook('read');
const [balance] = sample.reads as [WebhookRead];
const supply: WebhookRead = {
  contract: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
  function: 'totalSupply()',
  when: 'changes',
  decimals: 0,
  before: null,
  after: { block: '7', value: '-5' },
};

describe('decodeReads', () => {
  it('names values by their function, and decodes integers', () => {
    const symbol = { ...supply, function: 'symbol(uint8)', decimals: null };
    const text = { ...symbol, after: { block: '8', value: '12' } };
    const list = { ...supply, after: { block: '9', value: ['1', true] } };
    expect(decodeReads({ reads: [balance, supply, text, list] })).toEqual([
      {
        ...balance,
        name: 'balance',
        before: { block: 16_225_661n, value: 1_250_000_000n },
        after: { block: 16_225_662n, value: 750_000_000n },
      },
      { ...supply, name: 'totalSupply', after: { block: 7n, value: -5n } },
      { ...text, name: 'symbol', after: { block: 8n, value: '12' } },
      { ...list, name: 'totalSupply', after: { block: 9n, value: ['1', true] } },
    ]);
    const unknown = { ...balance, decimals: null };
    expect(decodeReads({ reads: [unknown] })[0]?.after.value).toBe(750_000_000n);
  });

  it('refuses a webhook without values', () => {
    let thrown: unknown;
    try {
      decodeReads(sampleWebhook('erc20-transfer'));
    } catch (error) {
      thrown = error;
    }
    expect(isSluiceError(thrown, 'invalid_webhook')).toBe(true);
  });
});

describe('onRead', () => {
  it('calls functions by the name of a value, in the phases of the delivery', async () => {
    const confirmed = vi.fn();
    const unconfirmed = vi.fn();
    const others = vi.fn();
    const handler = createHandler({ secret: 's', seen: false })
      .onRead('totalSupply', { unconfirmed, confirmed })
      .onRead('balance', others);
    for (const isConfirmed of [false, true]) {
      const webhook = { ...sample, reads: [balance, supply], confirmed: isConfirmed };
      await handler(signedRequest({ secret: 's', webhook }));
    }
    expect(unconfirmed).toHaveBeenCalledOnce();
    expect(confirmed).toHaveBeenCalledOnce();
    expect(confirmed.mock.lastCall![0]).toMatchObject({
      name: 'totalSupply',
      chainId: '0x1',
      after: { value: -5n },
    });
    expect(others).toHaveBeenCalledOnce();
  });

  it('skips an unconfirmed delivery that is late', async () => {
    const unconfirmed = vi.fn();
    const handler = createHandler({ secret: 's' }).onRead('balance', {
      unconfirmed,
      confirmed() {},
    });
    for (const confirmed of [true, false]) {
      await handler(signedRequest({ secret: 's', webhook: { ...sample, confirmed } }));
    }
    expect(unconfirmed).not.toHaveBeenCalled();
  });
});
