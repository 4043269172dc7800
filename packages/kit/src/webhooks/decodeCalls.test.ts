import { encodeFunctionData, erc20Abi } from 'viem';
import { describe, expect, it, vi } from 'vitest';
import type { WebhookCall } from '../contract/shapes.generated.ts';
import { isSluiceError } from '../errors.ts';
import { decodeCalls } from './decodeCalls.ts';
import { createHandler } from './handler/handler.ts';
import { sampleWebhook, signedRequest } from './testing.ts';

const [call] = sampleWebhook('call').calls as [WebhookCall];
const BOB = '0xc5b4ffe6e645fa7ae5c8bb061870907e5f314c14';

describe('decodeCalls', () => {
  it('decodes calls with an ABI', () => {
    const input = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [BOB, 7n] });
    const approve = { ...call, input, function: null, arguments: null };
    const { decoded, undecoded } = decodeCalls({ calls: [call, approve] }, erc20Abi);
    expect(undecoded).toEqual([]);
    expect(decoded).toMatchObject([
      { name: 'transfer', args: { recipient: BOB, amount: 250_000_000n }, value: 0n },
      { name: 'approve', args: { spender: BOB, amount: 7n } },
    ]);
  });

  it('decodes calls without an ABI by the functions and names in the webhook', () => {
    const unnamed = { ...call, arguments: null };
    expect(decodeCalls({ calls: [call, unnamed] }).decoded.map(({ args }) => args)).toEqual([
      { to: BOB, amount: 250_000_000n },
      { arg0: BOB, arg1: 250_000_000n },
    ]);
  });

  it('returns the reason for each call that it cannot decode', () => {
    const calls = [
      { ...call, input: '0x12345678' },
      { ...call, input: '0x' },
      { ...call, input: call.input.slice(0, -2) },
    ];
    expect(decodeCalls({ calls }, erc20Abi).undecoded).toEqual([
      { call: calls[0], reason: 'unknown-function' },
      { call: calls[1], reason: 'unknown-function' },
      { call: calls[2], reason: 'malformed' },
    ]);
    expect(decodeCalls({ calls: [{ ...call, function: null }] }).undecoded).toHaveLength(1);
  });

  it('formats addresses, and refuses a webhook without calls', () => {
    const [decoded] = decodeCalls(sampleWebhook('call'), undefined, {
      addresses: 'checksummed',
    }).decoded;
    expect(decoded?.args['to']).toBe('0xc5B4FFE6e645fA7aE5c8bB061870907E5F314C14');
    let thrown: unknown;
    try {
      decodeCalls(sampleWebhook('erc20-transfer'));
    } catch (error) {
      thrown = error;
    }
    expect(isSluiceError(thrown, 'invalid_webhook')).toBe(true);
  });
});

describe('onCall', () => {
  const secret = 's';
  const send = (handler: (request: Request) => Promise<Response>, confirmed = true) =>
    handler(signedRequest({ secret, webhook: sampleWebhook('failed-call', { confirmed }) }));

  it('calls the functions of a name and phase, with the chain', async () => {
    const onTransfer = vi.fn();
    const unconfirmed = vi.fn();
    const onApprove = vi.fn();
    const handler = createHandler({ secret, abi: erc20Abi })
      .onCall('transfer', onTransfer)
      .onCall('transfer', { unconfirmed })
      .onCall('approve', onApprove);
    await send(handler, false);
    expect(unconfirmed).toHaveBeenCalledOnce();
    expect(onTransfer).not.toHaveBeenCalled();
    await send(handler);
    expect(onTransfer).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        name: 'transfer',
        args: { recipient: BOB, amount: 250_000_000n },
        chainId: '0x1',
        status: 'failed',
        reason: expect.objectContaining({ message: expect.stringContaining('exceeds balance') }),
      }),
      expect.anything(),
    );
    expect(onApprove).not.toHaveBeenCalled();
  });

  it('needs no ABI, but refuses a name that a given one lacks', async () => {
    const onTransfer = vi.fn();
    await send(createHandler({ secret }).onCall('transfer', onTransfer));
    expect(onTransfer).toHaveBeenCalledOnce();
    const typed = createHandler({ secret, abi: erc20Abi });
    // @ts-expect-error no such function
    expect(() => typed.onCall('mint', onTransfer)).toThrow('The ABI has no function mint');
  });
});
