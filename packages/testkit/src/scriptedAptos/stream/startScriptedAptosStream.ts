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

/**
 * Encodes transactions of the REST API as one message of the stream.
 *
 * @param block chain id of the message, and height and epoch for every transaction. Default: 4, 0
 * and 0.
 */
export async function encodeAptosMessage(
  transactions: readonly object[],
  { chainId = 4, height = '0', epoch = '0' } = {},
): Promise<Uint8Array> {
  const { encodeAptosBatch } = await import('./aptosStreamServer.ts');
  return encodeAptosBatch(transactions, () => ({ height, epoch }), chainId);
}
