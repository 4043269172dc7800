/** Generic types, which a schema cannot express. */

/** A page of a list. `total` counts the rows of all pages; `cursor` is absent on the last page. */
export interface Page<T> {
  result: T[];
  total: number;
  cursor?: string;
  /**
   * Present only on the last page, where it is at least `total`. Without it, the official client
   * requests more pages.
   */
  page_size?: number;
}

/** The fields of a type, all optional and possibly undefined. */
export type Optional<Fields> = { [K in keyof Fields]?: Fields[K] | undefined };

/** One value, or several; a row matches if it has any of them. */
export type OneOrMany<Value> = Value | readonly Value[];
