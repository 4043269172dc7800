import { createHttpClient } from './httpClient.ts';
import type { Connect } from '../../../../ingest/nodes/anyProvider.ts';
import type { RpcClient } from './rpcClient.ts';
import { createSocketClient } from './socketClient.ts';

/** @param name name of the node in messages, not its URL, which may contain an API key */
export function createRpcClient(url: string, name: string, connect?: Connect): RpcClient {
  const { protocol } = new URL(url);
  return protocol === 'ws:' || protocol === 'wss:'
    ? createSocketClient(url, name, connect)
    : createHttpClient(new URL(url), name, connect);
}
