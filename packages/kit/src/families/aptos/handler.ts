import { attempt } from '../../webhooks/handler/attempt.ts';
import type { HandlerPart } from '../../webhooks/handler/handlerPart.ts';
import type { Reporter } from '../../webhooks/handler/reporter.ts';
import type { AptosHandlerMethods } from './handlerMethods.ts';
import type { ReceivedAptosWebhook } from './webhook.ts';

/** Creates the part of a handler for Aptos streams. */
export function createAptosPart(
  reporter: Reporter,
  itself: () => unknown,
): HandlerPart<ReceivedAptosWebhook, AptosHandlerMethods> {
  const registered: Parameters<AptosHandlerMethods['onAptosWebhook']>[0][] = [];
  return {
    methods: {
      onAptosWebhook(handle: (typeof registered)[number]) {
        registered.push(handle);
        return itself();
      },
    },
    handle: (delivery) =>
      attempt(reporter, delivery, async () => {
        for (const each of registered) await each(delivery.webhook, delivery);
      }),
  };
}
