/** How hosts and origins are spelled. */
import { isIP } from 'node:net';

/** A host name or IP address, with neither scheme nor port. */
export const isHostName = (text: string): boolean =>
  isIP(text) !== 0 || /^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i.test(text);

/** Whether the text is an origin as browsers write it: scheme, host, and the port where it is not the usual one. */
export const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
