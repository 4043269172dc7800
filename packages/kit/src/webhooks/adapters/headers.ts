/** Reads request headers of any framework. */

/** Request headers: a `Headers` object, or the plain object that Node and most frameworks use. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };

/**
 * Returns the value of a header. Returns undefined if the header is missing or empty, or if its
 * value is an array of several values. `name` must be lowercase.
 */
export function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  const value = isGetter(headers) ? headers.get(name) : propertyOf(headers, name);
  const single: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof single === 'string' && single !== '' ? single : undefined;
}

const isGetter = (headers: WebhookHeaders): headers is Headers =>
  typeof headers?.get === 'function';

/**
 * Returns the value of a header in a plain object, in any casing: Node lowercases header names, but
 * other platforms keep them as sent.
 */
function propertyOf(headers: Exclude<WebhookHeaders, Headers>, name: string): unknown {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const record = headers as { readonly [name: string]: unknown };
  const key = Object.hasOwn(record, name)
    ? name
    : Object.keys(record).find((key) => key.toLowerCase() === name);
  return key === undefined ? undefined : record[key];
}
