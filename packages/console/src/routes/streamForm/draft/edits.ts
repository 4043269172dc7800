/**
 * Keeps the edits of a stream's form by field, apart from the saved stream. If the stream changes
 * elsewhere, the edits stay, and the fields without edits follow the saved stream.
 */
import type { StreamDraft } from './draft.ts';

export interface StreamEdits {
  /** The saved stream when the first edit was made, or when the user last accepted its changes. */
  base: StreamDraft;
  /** New values of the edited fields. */
  fields: Partial<StreamDraft>;
}

type Field = keyof StreamDraft;

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const fieldsOf = (draft: Partial<StreamDraft>): Field[] => Object.keys(draft) as Field[];

export const pickFields = (draft: StreamDraft, fields: readonly Field[]): Partial<StreamDraft> =>
  Object.fromEntries(fields.map((field) => [field, draft[field]]));

/** Returns the contents of the form: the saved stream with the edits. */
export const withEdits = (saved: StreamDraft, edits: StreamEdits | undefined): StreamDraft =>
  edits === undefined ? saved : { ...saved, ...edits.fields };

/**
 * Returns the edits after the form changed to `next`; undefined if no field differs from the saved
 * stream.
 */
export function toEdits(
  saved: StreamDraft,
  next: StreamDraft,
  edits: StreamEdits | undefined,
): StreamEdits | undefined {
  const edited = fieldsOf(next).filter((field) => !isSame(saved[field], next[field]));
  if (edited.length === 0) return undefined;
  return { base: edits?.base ?? saved, fields: pickFields(next, edited) };
}

/** Returns the edits without those that were saved with the same value. */
export function withoutSaved(
  edits: StreamEdits | undefined,
  sent: StreamDraft,
  saved: StreamDraft,
): StreamEdits | undefined {
  if (edits === undefined) return undefined;
  return toEdits(
    saved,
    { ...saved, ...pickUnsent(edits.fields, sent) },
    {
      base: saved,
      fields: {},
    },
  );
}

const pickUnsent = (fields: Partial<StreamDraft>, sent: StreamDraft): Partial<StreamDraft> =>
  Object.fromEntries(
    fieldsOf(fields).flatMap((field) =>
      isSame(fields[field], sent[field]) ? [] : [[field, fields[field]]],
    ),
  );

/** Returns the edited fields that were also changed elsewhere, to another value. */
export function conflictsOf(saved: StreamDraft, edits: StreamEdits | undefined): Field[] {
  if (edits === undefined) return [];
  return fieldsOf(edits.fields).filter(
    (field) =>
      !isSame(saved[field], edits.base[field]) && !isSame(saved[field], edits.fields[field]),
  );
}

/** Drops the edits of these fields, so that they show the saved values. */
export function withoutFields(
  saved: StreamDraft,
  edits: StreamEdits,
  fields: readonly Field[],
): StreamEdits | undefined {
  const left = fieldsOf(edits.fields).filter((field) => !fields.includes(field));
  return left.length === 0
    ? undefined
    : { base: saved, fields: pickFields({ ...saved, ...edits.fields }, left) };
}

/** Returns stored edits if they have the form of edits of this stream; otherwise undefined. */
export function readEdits(stored: unknown, saved: StreamDraft): StreamEdits | undefined {
  const { base, fields } = (stored ?? {}) as Partial<StreamEdits>;
  const isDraft = (each: unknown): each is Partial<StreamDraft> =>
    typeof each === 'object' &&
    each !== null &&
    Object.entries(each).every(
      ([field, value]) => field in saved && isAlike(value, saved[field as Field]),
    );
  if (!isDraft(base) || !isDraft(fields) || base.family !== saved.family) return undefined;
  return toEdits(saved, { ...saved, ...fields }, { base: { ...saved, ...base }, fields });
}

/** Returns whether two values have the same type. The OAuth credentials may be null. */
const isAlike = (value: unknown, other: unknown): boolean =>
  value === null || other === null
    ? typeof value === 'object' && typeof other === 'object'
    : typeof value === typeof other && Array.isArray(value) === Array.isArray(other);

/**
 * Returns the edits to store, without what may be a credential: headers, a client secret, and a URL
 * with a login must be entered again.
 */
export function toStored(edits: StreamEdits | undefined): StreamEdits | undefined {
  if (edits === undefined) return undefined;
  const fields = withoutCredentials(edits.fields);
  return fieldsOf(fields).length === 0
    ? undefined
    : { base: withoutCredentials(edits.base), fields };
}

function withoutCredentials<Draft extends Partial<StreamDraft>>({
  headers: _headers,
  ...draft
}: Draft): Draft {
  const { oauth2, webhookUrl } = draft;
  const { webhookUrl: _url, ...rest } = draft;
  const kept = webhookUrl?.includes('@') ? rest : draft;
  return (oauth2 == null ? kept : { ...kept, oauth2: { ...oauth2, clientSecret: '' } }) as Draft;
}
