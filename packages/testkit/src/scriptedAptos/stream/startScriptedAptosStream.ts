import type {
  RunningScriptedAptosStream,
  StartScriptedAptosStreamOptions,
} from './runningAptosStream.ts';

/** Starts an endpoint on 127.0.0.1, without TLS. Needs the packages `@grpc/grpc-js` and `protobufjs`. */
export async function startScriptedAptosStream(
  options: StartScriptedAptosStreamOptions,
): Promise<RunningScriptedAptosStream> {
  const { serveAptosStream } = await import('./aptosStreamServer.ts');
  return serveAptosStream(options);
}

/**
 * A message of the stream that holds these transactions, given as the REST API answers them.
 *
 * @param block what is told of the block of each; nothing that matters to a watcher
 */
export async function encodeAptosMessage(
  transactions: readonly object[],
  { chainId = 4, height = '0', epoch = '0' } = {},
): Promise<Uint8Array> {
  const { encodeAptosBatch } = await import('./aptosStreamServer.ts');
  return encodeAptosBatch(transactions, () => ({ height, epoch }), chainId);
}
