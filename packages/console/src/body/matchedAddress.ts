/** A watched address in the records of a webhook, and the rules that selected them. */
export interface MatchedAddress {
  /** Null for records without a watched address. */
  address: string | null;
  label: string | null;
  /** Position of the factory that created the address; null for addresses of the stream. */
  factory: number | null;
  rules: { field: string; index: number | null }[];
}
