import type {
  RunningScriptedAptosStream,
  StartScriptedAptosStreamOptions,
} from './runningAptosStream.ts';

/**
 * Starts an endpoint on 127.0.0.1, without TLS. Requires the packages `@grpc/grpc-js` and
 * `protobufjs`.
 */
export async function startScriptedAptosStream(
  options: StartScriptedAptosStreamOptions,
): Promise<RunningScriptedAptosStream> {
  const { serveAptosStream } = await import('./aptosStreamServer.ts');
  return serveAptosStream(options);
}

/** Encodes transactions of the REST API as one message of the stream. Default chain id: 4. */
export async function encodeAptosMessage(
  transactions: readonly object[],
  chainId = 4,
): Promise<Uint8Array> {
  const { encodeAptosBatch } = await import('./aptosStreamServer.ts');
  return encodeAptosBatch(transactions, chainId);
}
