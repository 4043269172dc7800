/** Webhooks of EVM streams. */
import type { EvmWebhook } from '../../contract/shapes.generated.ts';
import type { Received } from '../../webhooks/received.ts';

/** A verified webhook of an EVM stream. */
export interface ReceivedWebhook extends Received<EvmWebhook> {
  /** A webhook with `removed: true` revokes the stream's earlier webhooks of this block. */
  readonly webhook: EvmWebhook;
}

/** Returns whether a parsed body has the fields of an EVM webhook. */
export const isEvmBody = ({ logs }: Partial<EvmWebhook>): boolean => Array.isArray(logs);
