/** Method and path of a call; the client fills in the `{parameters}` of the path. */
export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Path relative to the base URL; `{name}` marks a parameter. */
  readonly path: string;
}

/** A Sluice route, with the properties that a client method needs. */
export interface SluiceRoute extends Route {
  /** The argument after the path parameters. */
  readonly takes?: 'query' | 'body';
  /**
   * Kind of response: a page of a list, a complete list, text, or nothing. Default: the response
   * itself.
   */
  readonly reads?: 'page' | 'list' | 'text' | 'nothing';
  /** Whether it may be retried after a failure. */
  readonly repeatable?: true;
}
