/** Timeout from the start of an attempt to the last byte read: connection, headers and body. */
export const DEFAULT_TIMEOUT_MS = 15_000;
