import type { StreamDraft } from './draft.ts';

/** An example of what a new stream can watch. */
export interface Example {
  /** Name, such as `USDC`. */
  name: string;
  /** The contract or account; null for an example without an address. */
  address: string | null;
  /** Returns the draft with the example added. */
  add(draft: StreamDraft): StreamDraft;
}
