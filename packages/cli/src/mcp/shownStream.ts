import type { AnyStream } from '../streams/streamFields.ts';

/** Masks the values of custom headers, which often authenticate the service to the receiver. */
export const toShownStream = (stream: AnyStream): AnyStream => ({
  ...stream,
  headers: Object.fromEntries(Object.keys(stream.headers ?? {}).map((name) => [name, '***'])),
});
