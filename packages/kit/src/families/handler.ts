/** Composes the parts of a webhook handler. */
import type { HandlerPart } from '../webhooks/handler/handlerPart.ts';
import type { Reporter } from '../webhooks/handler/reporter.ts';
import type { HandlerRules } from '../webhooks/handler/types.ts';
import type { SeenStore } from '../webhooks/seen.ts';
import { createAptosPart } from './aptos/handler.ts';
import { createEvmPart } from './evm/handler.ts';
import type { AnyAbi, HandlerMethods } from './handlerMethods.ts';
import { isAptosWebhook } from './webhooks.ts';
import type { AnyReceived, ReceivedAptosWebhook, ReceivedWebhook } from './webhooks.ts';

/** @param itself returns the handler, which its methods return. */
export function createHandlerParts(
  rules: HandlerRules<AnyAbi>,
  seen: SeenStore | false,
  reporter: Reporter,
  itself: () => unknown,
): HandlerPart<AnyReceived, HandlerMethods<AnyAbi>> {
  const evm = createEvmPart(rules, seen, reporter, itself);
  const aptos = createAptosPart(reporter, itself);
  return {
    methods: { ...evm.methods, ...aptos.methods },
    handle: (delivery, headers) =>
      isAptosWebhook(delivery.webhook)
        ? aptos.handle(delivery as ReceivedAptosWebhook, headers)
        : evm.handle(delivery as ReceivedWebhook, headers),
  };
}
