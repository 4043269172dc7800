import type { AptosWebhook } from '../../contract/shapes.generated.ts';
import type { ReceivedAptosWebhook } from './webhook.ts';

/** Registers functions for webhooks of Aptos streams. Each method returns the handler itself. */
export interface AptosHandlerMethods {
  /**
   * Registers a function that is called for each webhook of an Aptos stream. No other function is
   * called for it. Aptos blocks are final, so each one is delivered once.
   */
  onAptosWebhook(handle: (webhook: AptosWebhook, delivery: ReceivedAptosWebhook) => unknown): this;
}
