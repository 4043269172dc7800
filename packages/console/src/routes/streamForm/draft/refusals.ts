import { isSluiceError } from '@sluice/kit/sluice';
import type { StreamDraft } from './draft.ts';

/** Validation errors of the service by field path, such as `triggers.0.inputs`. */
export type Refusals = Readonly<Record<string, string>>;

/** Names of form fields that differ in the request body, by the name in the request body. */
const DRAFT_FIELDS: Readonly<Record<string, string>> = { functionAbi: 'function' };

/**
 * Returns the value at a path of the draft, as far as the draft has parts of their own.
 * @param path as in {@link Refusals}.
 */
function fieldOf(draft: StreamDraft, path: string): unknown {
  const [field = '', ...parts] = path.split('.');
  let value: unknown = draft[field as keyof StreamDraft];
  for (const part of parts) {
    const name = DRAFT_FIELDS[part] ?? part;
    if (typeof value !== 'object' || value === null || !(name in value)) break;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/**
 * Returns the errors of a 422 response for fields that have not changed since the request.
 * @param sent the draft in the request; undefined before the first request.
 */
export function refusalsOf(
  error: unknown,
  sent: StreamDraft | undefined,
  now: StreamDraft,
): Refusals {
  if (sent === undefined || !isSluiceError(error, 'validation_failed')) return {};
  const isAsSent = (path: string): boolean =>
    JSON.stringify(fieldOf(sent, path)) === JSON.stringify(fieldOf(now, path));
  return Object.fromEntries(
    Object.entries(error.fields).flatMap(([path, { message }]) =>
      isAsSent(path) ? [[path, message]] : [],
    ),
  );
}

/** Returns the first error of a field or of one of its parts; undefined if there is none. */
export const refusalOf = (refusals: Refusals, path: string): string | undefined =>
  Object.entries(refusals).find(([key]) => key === path || key.startsWith(`${path}.`))?.[1];
