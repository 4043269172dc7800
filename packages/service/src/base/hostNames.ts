/** Checks the syntax of hosts and origins. */
import { isIP } from 'node:net';

/** Returns whether the string is a host name or IP address, without scheme and port. */
export const isHostName = (text: string): boolean =>
  isIP(text) !== 0 || /^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i.test(text);

/**
 * Returns whether the string is an origin as browsers write it: scheme, host, and any non-default
 * port.
 */
export const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
