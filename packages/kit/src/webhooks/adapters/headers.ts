/** Reads request headers of any framework. */

/** `Headers` of a web request, or the plain object of Node and most frameworks. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** Returns the value of a header; undefined if it is missing, empty or repeated. */
export function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  const value = isGetter(headers) ? headers.get(name) : propertyOf(headers, name);
  const single: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof single === 'string' && single !== '' ? single : undefined;
}

const isGetter = (headers: WebhookHeaders): headers is Headers =>
  typeof headers?.get === 'function';

/** Node lowercases names; other platforms keep them as sent. */
function propertyOf(headers: Exclude<WebhookHeaders, Headers>, name: string): unknown {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const record = headers as { readonly [name: string]: unknown };
  const key = Object.hasOwn(record, name)
    ? name
    : Object.keys(record).find((key) => key.toLowerCase() === name);
  return key === undefined ? undefined : record[key];
}
