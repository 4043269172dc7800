import type {
  RunningScriptedAptosStream,
  StartScriptedAptosStreamOptions,
} from './runningAptosStream.ts';

/** Starts an endpoint on 127.0.0.1, without TLS. Requires `@grpc/grpc-js` and `protobufjs`. */
export async function startScriptedAptosStream(
  options: StartScriptedAptosStreamOptions,
): Promise<RunningScriptedAptosStream> {
  const { serveAptosStream } = await import('./aptosStreamServer.ts');
  return serveAptosStream(options);
}

/**
 * Encodes a message of the stream with these transactions, which have the form of the REST API.
 *
 * @param block block data to add to each transaction; a watcher does not need it
 */
export async function encodeAptosMessage(
  transactions: readonly object[],
  { chainId = 4, height = '0', epoch = '0' } = {},
): Promise<Uint8Array> {
  const { encodeAptosBatch } = await import('./aptosStreamServer.ts');
  return encodeAptosBatch(transactions, () => ({ height, epoch }), chainId);
}
