/** Where a call is made; the client fills the `{parameters}` of the path. */
export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Path below the base URL; `{name}` marks a parameter. */
  readonly path: string;
}

/** One of our own routes, with what a client needs to make a method of it. */
export interface SluiceRoute extends Route {
  /** The argument behind the parameters of the path. */
  readonly takes?: 'query' | 'body';
  /** A page of a list, a whole list, text, or nothing; by default the answer itself. */
  readonly reads?: 'page' | 'list' | 'text' | 'nothing';
  /** It may be sent again after a failure. */
  readonly repeatable?: true;
}
