import { isSluiceError } from '@sluice/kit/sluice';
import type { StreamDraft, TriggerDraft } from './draft.ts';

/** What the service has against fields of a body, by their path there: `triggers.0.inputs`. */
export type Refusals = Readonly<Record<string, string>>;

/** What the form calls another name than the body. */
const DRAFT_FIELDS: Readonly<Record<string, keyof TriggerDraft>> = { functionAbi: 'function' };

/** What a draft has in the place of this path: of a trigger one of its fields. */
function fieldOf(draft: StreamDraft, path: string): unknown {
  const [field = '', index, part = ''] = path.split('.');
  if (field !== 'triggers' || index === undefined) return draft[field as keyof StreamDraft];
  return draft.triggers[Number(index)]?.[DRAFT_FIELDS[part] ?? (part as keyof TriggerDraft)];
}

/**
 * Of an answer 422, as far as the fields are still what was refused; empty for every other error.
 * @param sent undefined before anything was.
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
    Object.entries(error.details ?? {}).flatMap(([path, detail]) => {
      const message =
        typeof detail === 'object' && detail !== null && 'message' in detail ? detail.message : '';
      const place = path.replace(/^requestBody\./, '');
      return typeof message === 'string' && message !== '' && isAsSent(place)
        ? [[place, message]]
        : [];
    }),
  );
}

/** What is said of a field or of anything within it. */
export const refusalOf = (refusals: Refusals, path: string): string | undefined =>
  Object.entries(refusals).find(([key]) => key === path || key.startsWith(`${path}.`))?.[1];
