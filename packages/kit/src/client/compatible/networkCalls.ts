import type { Route } from '../../contract/route.ts';

/** The stream calls of a chain family. */
export interface NetworkCalls {
  readonly routes: Readonly<
    Record<
      | 'list'
      | 'create'
      | 'get'
      | 'update'
      | 'delete'
      | 'setStatus'
      | 'listAddresses'
      | 'addAddresses'
      | 'removeAddresses',
      Route
    >
  >;
  toBody(fields: object): unknown;
  /** Reads a stream, and adds defaults for the fields that the hosted service omits. */
  toStream(body: unknown): object;
  /** Reads the response to deleting a stream. */
  toDeleted(body: unknown): unknown;
  /** Reads the response to setting the status. */
  toStatus(body: unknown): unknown;
  /** `added` and `removed` convert an address to the form that is sent to add or remove it. */
  readonly added: (address: unknown) => string;
  readonly removed: (address: unknown) => string;
}
