/** Describes a stream in a sentence. */
import { receiverOf, STREAM_FIELDS } from '@sluice/kit/contract';
import { DRAFT_FAMILIES } from '../../../families/draftFamilies.ts';
import { SENT_WORDS } from '../../../families/sentences.ts';
import { formatQuantity } from '../../../ui/text/format.ts';
import { formatList } from '../../../ui/text/list.ts';
import type { StreamDraft } from '../draft/draft.ts';
import type { KnownTokens } from '../draft/knownTokens.ts';

/** The addresses that a stream watches. */
export interface Watched {
  count: number;
  /** Name of the only address. */
  name?: string | undefined;
}

/**
 * Describes what a stream sends, of which addresses, where and when; filters follow in a sentence
 * of their own. Missing parts are an ellipsis.
 *
 * @param chains names of the draft's chains
 */
export function describeStream(
  draft: StreamDraft,
  known: KnownTokens,
  watched: Watched,
  chains: readonly string[],
): string {
  const { records, filters, values, additionally } = SENT_WORDS[draft.family](draft, known);
  const subject = formatList([...subjectOf(draft, watched, additionally)]) || '…';
  const sent = [
    ...(records.length === 0 ? [] : [`${formatList(records)} of ${subject}`]),
    ...values,
  ];
  if (sent.length === 0) return 'Sends nothing, because no records are selected.';
  const only = filters.length === 0 ? '' : ` Only ${formatList(filters)}.`;
  return `Sends ${formatList(sent)} on ${formatList(chains) || '…'} to ${placeOf(draft)}${phasesOf(draft)}.${only}`;
}

function subjectOf(
  { allAddresses }: StreamDraft,
  { count, name }: Watched,
  additionally: readonly string[],
): readonly string[] {
  if (allAddresses) return ['all addresses'];
  if (count === 0) return additionally;
  return [name ?? formatQuantity(count, 'address', 'addresses'), ...additionally];
}

const placeOf = ({ webhookUrl }: StreamDraft): string =>
  webhookUrl === '' ? '…' : receiverOf({ webhookUrl });

function phasesOf(draft: StreamDraft): string {
  if (DRAFT_FAMILIES[draft.family].timesSent(draft) === 2) return ', at once and when confirmed';
  return draft.deliver === 'confirmed' && 'deliver' in STREAM_FIELDS[draft.family]
    ? ', when confirmed'
    : '';
}
