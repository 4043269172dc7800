/**
 * Every call of the compatible API: its method and path, spelled once (contract sections 1.2 and
 * 1.3). The client fills the `{parameters}`; the service registers them; neither writes a path by
 * hand.
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
  // EVM streams
  listEvmStreams: route('GET', '/streams/evm'),
  createEvmStream: route('PUT', '/streams/evm'),
  getEvmStream: route('GET', '/streams/evm/{id}'),
  updateEvmStream: route('POST', '/streams/evm/{id}'),
  deleteEvmStream: route('DELETE', '/streams/evm/{id}'),
  setEvmStreamStatus: route('POST', '/streams/evm/{id}/status'),
  listEvmAddresses: route('GET', '/streams/evm/{id}/address'),
  addEvmAddresses: route('POST', '/streams/evm/{id}/address'),
  removeEvmAddresses: route('DELETE', '/streams/evm/{id}/address'),

  // Aptos streams
  listAptosStreams: route('GET', '/streams/aptos'),
  createAptosStream: route('PUT', '/streams/aptos'),
  getAptosStream: route('GET', '/streams/aptos/{id}'),
  updateAptosStream: route('POST', '/streams/aptos/{id}'),
  deleteAptosStream: route('DELETE', '/streams/aptos/{id}'),
  setAptosStreamStatus: route('POST', '/streams/aptos/{id}/status'),
  listAptosAddresses: route('GET', '/streams/aptos/{id}/address'),
  addAptosAddresses: route('POST', '/streams/aptos/{id}/address'),
  removeAptosAddresses: route('DELETE', '/streams/aptos/{id}/address'),

  // What was delivered, and what was not
  listHistory: route('GET', '/history'),
  replayHistory: route('POST', '/history/replay/{streamId}/{id}'),
  listLogs: route('GET', '/history/logs'),

  // The account
  readSettings: route('GET', '/settings'),
  setSettings: route('POST', '/settings'),
  getStats: route('GET', '/stats'),
  getStreamStats: route('GET', '/stats/{streamId}'),

  // Newer calls, which the official client lacks
  duplicateEvmStream: route('POST', '/streams/evm/{id}/duplicate'),
  replaceEvmAddresses: route('PATCH', '/streams/evm/{id}/address'),
  dryRunEvmBlock: route('POST', '/streams/evm/{chainId}/block/{blockNumber}'),
  sendEvmBlock: route('POST', '/streams/evm/{chainId}/block-to-webhook/{blockNumber}/{streamId}'),
  createHistoricalJob: route('POST', '/historicalJobs/createJob'),
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
