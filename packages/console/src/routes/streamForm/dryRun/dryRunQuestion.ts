/** Builds the request for a dry run, and checks whether a draft can be run. */
import { toAptosFields, toEvmFields } from '../draft/fields.ts';
import type { StreamDraft } from '../draft/draft.ts';
import { rightConditions } from '../draft/problems.ts';

/**
 * Returns whether a draft can run: it needs an address or, to watch all addresses, an event or a
 * function. The service rejects drafts that would match the entire chain.
 * @param addresses null while the input is incomplete.
 */
export function canRun(draft: StreamDraft, addresses: readonly string[] | null): boolean {
  if (!draft.allAddresses) return addresses !== null && addresses.length > 0;
  return draft.family === 'evm'
    ? draft.rules.length > 0
    : `${draft.functions}${draft.moveEvents}`.trim() !== '';
}

/**
 * Returns the fields that affect which records are sent and what they contain, without incomplete
 * or invalid conditions.
 */
export function toDryRunFields(draft: StreamDraft) {
  if (draft.family === 'evm') {
    const {
      webhookUrl: _url,
      description: _description,
      tag: _tag,
      chainIds: _chains,
      deliver: _deliver,
      notifyRemoved: _removed,
      unverified: _unverified,
      headers: _headers,
      oauth2: _oauth2,
      maxInFlight: _inFlight,
      maxPerSecond: _perSecond,
      maxWebhookBytes: _bytes,
      strictOrder: _order,
      ...fields
    } = toEvmFields({
      ...draft,
      rules: draft.rules.map((rule) => ({ ...rule, conditions: rightConditions(rule, draft) })),
    });
    return fields;
  }
  const { functions, events, includePayload, includeEvents, includeChanges, allAddresses } =
    toAptosFields(draft);
  return {
    functions: [...(functions ?? [])],
    events: [...(events ?? [])],
    includePayload,
    includeEvents,
    includeChanges,
    allAddresses,
  };
}
