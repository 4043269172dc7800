import type { Sealed } from '../../src/store/streams/contract.ts';

/** Passes the fields of a stream to the store as they are, because a test needs no encryption. */
export const plain = <Fields extends object>(fields: Fields): Sealed<Fields> =>
  fields as Sealed<Fields>;
