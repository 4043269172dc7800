/** Pasted text, recognized by its format. */
import type { NetworkType } from '@sluice/kit';

/** Pasted text in a format of one chain family. */
interface OfFamily {
  family: NetworkType;
  /** Display name of the format, such as `ENS name`. */
  what: string;
}

export type PastedOfFamily =
  | (OfFamily & {
      kind: 'address';
      address: string;
      /** Whether the text may also be the start of a longer address. */
      mayBePart: boolean;
    })
  | (OfFamily & {
      kind: 'name';
      name: string;
      /** Whether the service can find the address of the name. */
      isResolved: boolean;
    })
  /** Events or functions that a stream can select. */
  | (OfFamily & {
      kind: 'event';
      /** The text, without what a stream does not need. */
      event: string;
      /** Label and detail of the command that creates a stream. */
      command: string;
      detail: string;
    });

export type Pasted =
  | PastedOfFamily
  /** 32 bytes in hex: the hash of a transaction or a block, or an address. */
  | { kind: 'hash'; hash: string }
  | { kind: 'block'; number: number }
  /** The id of a delivery or a stream: both are UUIDs. */
  | { kind: 'id'; id: string }
  /** Two or more addresses. */
  | { kind: 'addresses'; text: string; count: number };
