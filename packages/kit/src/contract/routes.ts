/**
 * Every call of the compatible API: its method, its path and who may make it, said once. The client
 * fills the `{parameters}`; the service registers them; neither writes a path by hand.
 */
import type { Scope } from './access.ts';

type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';

export interface Route<M extends Method = Method, P extends string = string> {
  readonly method: M;
  /** Path below the base URL; `{name}` marks a parameter. */
  readonly path: P;
  readonly access: Access;
}

/** The scope a key must have; `any` for every valid key, `open` for callers without one. */
export type Access = Scope | 'any' | 'open';

export const route = <const M extends Method, const P extends string>(
  method: M,
  path: P,
  access: Access,
): Route<M, P> => ({ method, path, access });

export const ROUTES = {
  // EVM streams
  listEvmStreams: route('GET', '/streams/evm', 'streams:read'),
  createEvmStream: route('PUT', '/streams/evm', 'streams:write'),
  getEvmStream: route('GET', '/streams/evm/{id}', 'streams:read'),
  updateEvmStream: route('POST', '/streams/evm/{id}', 'streams:write'),
  deleteEvmStream: route('DELETE', '/streams/evm/{id}', 'streams:write'),
  setEvmStreamStatus: route('POST', '/streams/evm/{id}/status', 'streams:write'),
  listEvmAddresses: route('GET', '/streams/evm/{id}/address', 'streams:read'),
  addEvmAddresses: route('POST', '/streams/evm/{id}/address', 'streams:write'),
  removeEvmAddresses: route('DELETE', '/streams/evm/{id}/address', 'streams:write'),

  // Aptos streams
  listAptosStreams: route('GET', '/streams/aptos', 'streams:read'),
  createAptosStream: route('PUT', '/streams/aptos', 'streams:write'),
  getAptosStream: route('GET', '/streams/aptos/{id}', 'streams:read'),
  updateAptosStream: route('POST', '/streams/aptos/{id}', 'streams:write'),
  deleteAptosStream: route('DELETE', '/streams/aptos/{id}', 'streams:write'),
  setAptosStreamStatus: route('POST', '/streams/aptos/{id}/status', 'streams:write'),
  listAptosAddresses: route('GET', '/streams/aptos/{id}/address', 'streams:read'),
  addAptosAddresses: route('POST', '/streams/aptos/{id}/address', 'streams:write'),
  removeAptosAddresses: route('DELETE', '/streams/aptos/{id}/address', 'streams:write'),

  // What was delivered, and what was not
  listHistory: route('GET', '/history', 'history:read'),
  replayHistory: route('POST', '/history/replay/{streamId}/{id}', 'replay'),
  listLogs: route('GET', '/history/logs', 'history:read'),

  // The account
  readSettings: route('GET', '/settings', 'settings:admin'),
  setSettings: route('POST', '/settings', 'settings:admin'),
  getStats: route('GET', '/stats', 'history:read'),
  getStreamStats: route('GET', '/stats/{streamId}', 'history:read'),

  // Newer calls, which the official client lacks
  duplicateEvmStream: route('POST', '/streams/evm/{id}/duplicate', 'streams:write'),
  replaceEvmAddresses: route('PATCH', '/streams/evm/{id}/address', 'streams:write'),
  dryRunEvmBlock: route('POST', '/streams/evm/{chainId}/block/{blockNumber}', 'streams:read'),
  sendEvmBlock: route(
    'POST',
    '/streams/evm/{chainId}/block-to-webhook/{blockNumber}/{streamId}',
    'replay',
  ),
  createHistoricalJob: route('POST', '/historicalJobs/createJob', 'replay'),
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
