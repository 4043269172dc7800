/** The part of the draft of a stream that only Aptos streams have. */
export interface AptosDraft {
  /** Move paths of functions, one per line. */
  functions: string;
  /** Move paths of event types, one per line. */
  moveEvents: string;
}

export const NEW_APTOS_DRAFT: AptosDraft = { functions: '', moveEvents: '' };
