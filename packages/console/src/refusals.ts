import { isSluiceError } from '@sluice/kit/sluice';

/** What the service has against fields of a body, by their path there: `triggers.0.inputs`. */
export type Refusals = Readonly<Record<string, string>>;

/** Of an answer 422; empty for every other error. */
export function refusalsOf(error: unknown): Refusals {
  if (!isSluiceError(error, 'validation_failed')) return {};
  return Object.fromEntries(
    Object.entries(error.details ?? {}).flatMap(([path, detail]) => {
      const message =
        typeof detail === 'object' && detail !== null && 'message' in detail ? detail.message : '';
      return typeof message === 'string' && message !== ''
        ? [[path.replace(/^requestBody\./, ''), message]]
        : [];
    }),
  );
}

/** What is said of a field or of anything within it. */
export const refusalOf = (refusals: Refusals, path: string): string | undefined =>
  Object.entries(refusals).find(([key]) => key === path || key.startsWith(`${path}.`))?.[1];
