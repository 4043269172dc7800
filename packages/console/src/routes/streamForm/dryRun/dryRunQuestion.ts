/** Builds the request for a dry run, and checks whether a draft can be run. */
import { DRAFT_FAMILIES } from '../../../families/draftFamilies.ts';
import { toFields } from '../draft/fields.ts';
import type { StreamDraft } from '../draft/draft.ts';
import { FIELDS } from '../draft/plainFields.ts';

/**
 * Returns whether a draft can run: it needs an address or factory or, to watch all addresses, an
 * event or a function. The service rejects drafts that would match the entire chain.
 * @param addresses null while the input is incomplete.
 */
export function canRun(draft: StreamDraft, addresses: readonly string[] | null): boolean {
  const { family, allAddresses } = draft;
  if (allAddresses) return DRAFT_FAMILIES[family].selects(draft);
  if (addresses === null) return false;
  return (
    addresses.length > 0 ||
    DRAFT_FAMILIES[family].findsAddresses(DRAFT_FAMILIES[family].withoutBroken(draft))
  );
}

/**
 * Returns the fields that affect which records are sent and what they contain, without incomplete
 * or invalid conditions. The tag is left out, so that typing it does not start another run.
 */
export const toDryRunFields = (draft: StreamDraft): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(toFields(DRAFT_FAMILIES[draft.family].withoutBroken(draft))).filter(
      ([name]) => FIELDS[name]?.isTried && name !== 'tag',
    ),
  );
