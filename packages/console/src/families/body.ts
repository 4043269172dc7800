/** Composes the decoding of webhook bodies for display. Bodies are untrusted. */
import { type AnyWebhook, callByWebhook } from '@sluice/kit/contract';
import { type DecodedRecord, isObject } from '../body/decodedRecord.ts';
import { decodeAptosRecords, toAptosMs } from './aptos/body.ts';
import { decodeEvmRecords, readMatched, toEvmMs } from './evm/body.ts';
import type { MatchedAddress } from '../body/matchedAddress.ts';

export { createLogReader } from './evm/body.ts';

/** Returns the matched addresses in a body; empty if it has none. */
export const toMatchedAddresses = (body: unknown): MatchedAddress[] =>
  isObject(body) ? readMatched(body) : [];

/** Returns the time of a webhook's block in Unix milliseconds; null without a webhook. */
export function timeOf(webhook: AnyWebhook | null): number | null {
  if (webhook === null) return null;
  const toMs = callByWebhook({ evm: () => toEvmMs, aptos: () => toAptosMs }, webhook);
  return toMs(Number(webhook.block.timestamp));
}

/** Returns the decoded records; null if the body is not a webhook. */
export function toDecodedRecords(body: unknown): DecodedRecord[] | null {
  if (!isObject(body) || !isObject(body['block'])) return null;
  return callByWebhook({ evm: decodeEvmRecords, aptos: decodeAptosRecords }, body);
}
