/** Converts between drafts of streams and the fields of the API. */
import { familyOfFields, formatRetries, parseRetries } from '@sluice/kit/contract';
import type { AnyStream, AnyStreamFields } from '../../../data/queries/streams.ts';
import { DRAFT_FAMILIES } from '../../../families/draftFamilies.ts';
import { toOAuth2, toOAuth2Draft } from '../oauth2/oauth2Draft.ts';
import { linesOf, NEW_DRAFT, type StreamDraft } from './draft.ts';
import { toPlainDraft, toPlainFields } from './plainFields.ts';

const toHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );

const toCommon = (draft: StreamDraft) => ({
  webhookUrl: draft.webhookUrl,
  description: draft.description || draft.tag,
  tag: draft.tag,
  headers: toHeaders(draft.headers),
  oauth2: toOAuth2(draft.oauth2),
  // A draft with a problem is not sent, but its changes are shown.
  retries: parseRetries(draft.retries) ?? [],
});

/** Returns the API fields of a draft, which depend on its chain family. */
export const toFields = (draft: StreamDraft): AnyStreamFields =>
  toPlainFields(draft, {
    ...toCommon(draft),
    ...DRAFT_FAMILIES[draft.family].toFields(draft),
  }) as unknown as AnyStreamFields;

/** Converts an existing stream to a draft. */
export function toDraft(stream: AnyStream): StreamDraft {
  const family = familyOfFields(stream);
  return {
    ...NEW_DRAFT,
    ...toPlainDraft(stream),
    webhookUrl: stream.webhookUrl,
    tag: stream.tag,
    description: stream.description,
    headers: Object.entries(stream.headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    oauth2: toOAuth2Draft(stream.oauth2),
    retries: formatRetries(stream.retries),
    family,
    ...DRAFT_FAMILIES[family].toDraft(stream),
  };
}

/** A changed API field. Values are JSON, or empty if the field is absent. */
export interface FieldChange {
  field: string;
  before: string;
  after: string;
}

export function changesOf(before: StreamDraft, after: StreamDraft): FieldChange[] {
  const from = toFields(before) as unknown as Record<string, unknown>;
  const to = toFields(after) as unknown as Record<string, unknown>;
  return Object.keys(to).flatMap((field) => {
    const [old, next] = [JSON.stringify(from[field]), JSON.stringify(to[field])];
    return old === next ? [] : [{ field, before: old ?? '', after: next ?? '' }];
  });
}

/** Returns the new values of the changed fields. The service keeps the values of absent fields. */
export function toChanges(before: StreamDraft, after: StreamDraft): Record<string, unknown> {
  const to = toFields(after) as unknown as Record<string, unknown>;
  return Object.fromEntries(changesOf(before, after).map(({ field }) => [field, to[field]]));
}
