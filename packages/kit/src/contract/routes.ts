/**
 * Every call of the compatible API: its method and path, spelled once (contract section 1.2).
 * The client fills the `{parameters}`; the service registers them; neither writes a path by hand.
 */
export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Path below the base URL; `{name}` marks a parameter. */
  readonly path: string;
}

const route = <const M extends Route['method'], const P extends string>(method: M, path: P) => ({
  method,
  path,
});

export const ROUTES = {
  listEvmStreams: route('GET', '/streams/evm'),
  createEvmStream: route('PUT', '/streams/evm'),
  getEvmStream: route('GET', '/streams/evm/{id}'),
  updateEvmStream: route('POST', '/streams/evm/{id}'),
  deleteEvmStream: route('DELETE', '/streams/evm/{id}'),
  setEvmStreamStatus: route('POST', '/streams/evm/{id}/status'),
  listEvmAddresses: route('GET', '/streams/evm/{id}/address'),
  addEvmAddresses: route('POST', '/streams/evm/{id}/address'),
  removeEvmAddresses: route('DELETE', '/streams/evm/{id}/address'),
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
