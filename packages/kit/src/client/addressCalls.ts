import type { Route } from '../contract/route.ts';

/** How a chain family adds addresses to a stream. */
export interface AddressCalls {
  readonly route: Route;
  /** Returns an address as it is sent. Throws `invalid_argument` for any other value. */
  toAddress(value: unknown): string;
}
