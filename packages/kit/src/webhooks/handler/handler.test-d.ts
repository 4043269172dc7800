import { erc20Abi } from 'viem';
import type { RequestHandler } from 'express';
import { expectTypeOf } from 'vitest';
import type { AbiItem, EvmWebhook } from '../../contract/shapes.generated.ts';
import type { DecodedLog, UndecodedLog } from '../decode.ts';
import { toExpress } from '../adapters/express.ts';
import { toFastify } from '../adapters/fastify.ts';
import { createHandler } from './handler.ts';
import type { WithChainId } from '../../families/handlerMethods.ts';
import type { WebhookHandler } from './types.ts';
import { toHono } from '../adapters/hono.ts';
import { toNodeListener } from '../adapters/node.ts';
import type { ReceivedWebhook } from '../../families/webhooks.ts';

type Hex = `0x${string}`;
const secret = 's';

// An `as const` ABI determines the event names and the types of their arguments.
const typed = createHandler({ secret, abi: erc20Abi })
  .on('Transfer', (log, delivery) => {
    expectTypeOf(log.name).toEqualTypeOf<'Transfer'>();
    expectTypeOf(log.args).toEqualTypeOf<{
      readonly from: Hex;
      readonly to: Hex;
      readonly value: bigint;
    }>();
    expectTypeOf(log.chainId).toEqualTypeOf<string>();
    expectTypeOf(delivery).toEqualTypeOf<ReceivedWebhook>();
  })
  .on('Approval', {
    unconfirmed: async ({ args }) => expectTypeOf(args.spender).toEqualTypeOf<Hex>(),
    confirmed: ({ args }) => expectTypeOf(args.owner).toEqualTypeOf<Hex>(),
  })
  .onUndecoded((log) => expectTypeOf(log).toEqualTypeOf<WithChainId<UndecodedLog>>())
  .onWebhook({ unconfirmed: (webhook) => expectTypeOf(webhook).toEqualTypeOf<EvmWebhook>() });

// @ts-expect-error no such event
typed.on('Deposit', () => undefined);
// @ts-expect-error no phase
typed.onWebhook({});

// An inline ABI does not need `as const`.
createHandler({
  secret,
  abi: [{ type: 'event', name: 'Set', inputs: [{ name: 'to', type: 'bool' }] }],
}).on('Set', ({ args }) => expectTypeOf(args).toEqualTypeOf<{ readonly to: boolean }>());

// Without a static ABI, any event name is accepted.
for (const handler of [
  createHandler({ secret }),
  createHandler({ secret, abi: [] as AbiItem[] }),
]) {
  handler.on('Whatever', (log) => expectTypeOf(log).toEqualTypeOf<WithChainId<DecodedLog>>());
}
expectTypeOf(createHandler({ apiKey: 'k' })).toExtend<WebhookHandler>();

// Adapters accept handlers with any ABI.
expectTypeOf(toExpress(typed)).toExtend<RequestHandler>();
toFastify(typed);
toHono(typed);
toNodeListener(typed);

// The handler works as a Next route handler and as the `fetch` function of a worker.
expectTypeOf(typed).toExtend<
  (request: Request, context: { params: Promise<object> }) => Promise<Response>
>();

// @ts-expect-error no key
createHandler({ abi: erc20Abi });
// @ts-expect-error two kinds of key
createHandler({ secret, apiKey: 'k' });
