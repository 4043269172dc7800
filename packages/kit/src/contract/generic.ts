/** Generic types, which a schema cannot express. */

/** A page of a list. `total` counts all rows; `cursor` is absent on the last page. */
export interface Page<T> {
  result: T[];
  total: number;
  cursor?: string;
  /**
   * Only on the last page, and at least `total`. Without it, the official client requests more
   * pages.
   */
  page_size?: number;
}

/** The same fields, all optional. */
export type Optional<Fields> = { [K in keyof Fields]?: Fields[K] | undefined };

/** One value, or several, any of which matches. */
export type OneOrSeveral<Value> = Value | readonly Value[];
