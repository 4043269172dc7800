/** Method and path of a call. */
export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Path relative to the base URL. The client replaces each `{name}` with a path parameter. */
  readonly path: string;
}

/** A route that only Sluice has, with the properties from which the client creates a method. */
export interface SluiceRoute extends Route {
  /**
   * How the argument after the path parameters is sent. Default: the method has no such argument.
   */
  readonly takes?: 'query' | 'body';
  /**
   * How the client reads the response: as a page of a list, a complete list, text, or nothing.
   * Default: as JSON.
   */
  readonly reads?: 'page' | 'list' | 'text' | 'nothing';
  /** True if the client may retry this write even if the service may have processed it already. */
  readonly repeatable?: true;
}
