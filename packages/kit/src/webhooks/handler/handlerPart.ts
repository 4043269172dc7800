import type { WebhookHeaders } from '../adapters/headers.ts';
import type { WebhookResponse } from './types.ts';

/** The part of a handler for one chain family: its registered functions, and how they are called. */
export interface HandlerPart<Received, Methods> {
  /** Methods that register functions and return the handler. */
  readonly methods: { readonly [Name in keyof Methods]: (...given: never[]) => unknown };
  handle(delivery: Received, headers: WebhookHeaders): Promise<WebhookResponse>;
}
