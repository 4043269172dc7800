/** Types with parameters, which no schema can say. */

/** A page of a list. `total` counts all rows; `cursor` is absent on the last page. */
export interface Page<T> {
  result: T[];
  total: number;
  cursor?: string;
  /** Only on the last page, at least `total`: without it the official client asks for more. */
  page_size?: number;
}

/** The same fields, each of which may be left out. */
export type Optional<Fields> = { [K in keyof Fields]?: Fields[K] | undefined };

/** One value, or several of which any will do. */
export type OneOrSeveral<Value> = Value | readonly Value[];
