/** Composes the parts of a webhook handler. */
import type { HandlerPart } from '../webhooks/handler/handlerPart.ts';
import type { Reporter } from '../webhooks/handler/reporter.ts';
import type { HandlerRules } from '../webhooks/handler/types.ts';
import type { SeenStore } from '../webhooks/seen.ts';
import { createAptosPart } from './aptos/handler.ts';
import { createEvmPart } from './evm/handler.ts';
import type { AnyAbi, HandlerMethods } from './handlerMethods.ts';
import { familyOfWebhook } from './webhooks.ts';
import type { AnyReceived, ReceivedWebhooks } from './webhooks.ts';

/** @param itself returns the handler, which its methods return. */
export function createHandlerParts(
  rules: HandlerRules<AnyAbi>,
  seen: SeenStore | false,
  reporter: Reporter,
  itself: () => unknown,
): HandlerPart<AnyReceived, HandlerMethods<AnyAbi>> {
  const parts = {
    evm: createEvmPart(rules, seen, reporter, itself),
    aptos: createAptosPart(reporter, itself),
  } satisfies { [Family in keyof ReceivedWebhooks]: HandlerPart<ReceivedWebhooks[Family], object> };
  return {
    methods: { ...parts.evm.methods, ...parts.aptos.methods },
    handle(delivery, headers) {
      const part: HandlerPart<AnyReceived, object> = parts[familyOfWebhook(delivery.webhook)];
      return part.handle(delivery, headers);
    },
  };
}
