/** Masks the values of custom headers, which often authenticate the service to the receiver. */
export const withMaskedHeaders = <Fields extends { headers?: Record<string, string> | undefined }>(
  fields: Fields,
): Fields => ({
  ...fields,
  headers: Object.fromEntries(Object.keys(fields.headers ?? {}).map((name) => [name, '***'])),
});
