/** What a dry run of a draft asks for, and whether there is something to ask. Pure. */
import { toAptosFields, toEvmFields } from '../draft/fields.ts';
import type { EventRule, StreamDraft } from '../draft/draft.ts';

/**
 * The service refuses all addresses without a choice of what of them: it would be the whole chain.
 * @param addresses null while what is typed is not complete.
 */
export function isAskable(draft: StreamDraft, addresses: readonly string[] | null): boolean {
  if (!draft.allAddresses) return addresses !== null && addresses.length > 0;
  return draft.family === 'evm'
    ? draft.rules.length > 0
    : `${draft.functions}${draft.moveEvents}`.trim() !== '';
}

/** What decides about a body: not where it goes, how fast, or under which name. */
export function toDryRunFields(draft: StreamDraft) {
  if (draft.family === 'evm') {
    const {
      webhookUrl: _url,
      description: _description,
      tag: _tag,
      chainIds: _chains,
      deliver: _deliver,
      notifyRemoved: _removed,
      headers: _headers,
      maxInFlight: _inFlight,
      maxPerSecond: _perSecond,
      strictOrder: _order,
      ...fields
    } = toEvmFields({ ...draft, rules: draft.rules.map(withoutOpenConditions) });
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

/** A condition that was just begun asks nothing yet. */
const withoutOpenConditions = (rule: EventRule): EventRule => ({
  ...rule,
  conditions: rule.conditions.filter(({ name, value }) => name !== '' && value.trim() !== ''),
});
