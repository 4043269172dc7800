/** Names the rules of a stream that matched, as EVM webhooks list them. */
import type { Stream } from '@sluice/kit';
import type { WebhookRule } from '@sluice/kit/contract';
import { isObject } from '../../body/decodedRecord.ts';
import type { MatchedAddress } from '../../body/matchedAddress.ts';
import { FIELDS } from '../../routes/streamForm/draft/plainFields.ts';
import { formatHash } from '../../ui/text/format.ts';

/** Kinds of the entries of fields with lists of rules. */
const ENTRIES: Readonly<Record<string, string>> = {
  topic0: 'event',
  functions: 'function',
  advancedOptions: 'filter',
} satisfies Partial<Record<WebhookRule['field'], string>>;

/**
 * Names a rule, such as `filter of Transfer`.
 * @param stream the stream with the rules that matched; without it, entries have only a position.
 */
export function nameMatchedRule(
  { field, index }: MatchedAddress['rules'][number],
  stream: Stream | undefined,
): string {
  const kind = ENTRIES[field];
  if (kind === undefined || index === null) return FIELDS[field]?.label ?? field;
  const list: unknown = stream?.[field as keyof Stream];
  const entry: unknown = Array.isArray(list) ? list[index] : undefined;
  if (typeof entry === 'string') return `${kind} ${nameOf(entry)}`;
  const rule = isObject(entry) ? (entry['topic0'] ?? entry['function']) : undefined;
  return typeof rule === 'string' ? `${kind} of ${nameOf(rule)}` : `${kind} ${index + 1}`;
}

const nameOf = (signature: string): string => formatHash(signature.split('(')[0]!, 6);
