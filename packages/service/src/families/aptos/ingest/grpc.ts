/** gRPC client of the transaction stream. Loaded on demand, because its packages are optional. */
import {
  type ClientReadableStream,
  type ServiceError,
  Client,
  Metadata,
  credentials,
  status,
} from '@grpc/grpc-js';
import { describeError } from '../../../base/log.ts';
import { type StreamedBatch, decodeResponse, encodeRequest } from './proto.ts';
import { type NamedNode, nameNode, toRetryAfterMs } from '../../../ingest/nodes/rpcError.ts';
import { SourceError } from '../../../ingest/source.ts';

export interface AptosCall {
  /**
   * Returns the next message, fetched on demand; undefined at the end of the stream.
   * @throws SourceError if the stream failed or the message is invalid
   */
  read(): Promise<(StreamedBatch & { sizeBytes: number }) | undefined>;
  cancel(): void;
}

export interface AptosGrpc {
  /** Opens an endless stream of all transactions, starting with this version. */
  call(startingVersion: number): AptosCall;
  close(): void;
}

const METHOD = '/aptos.indexer.v1.RawData/GetTransactions';
/**
 * Maximum number of transactions per message, which is also the page size. Servers allow up to
 * 1,000.
 */
const BATCH_TRANSACTIONS = 100;
/**
 * Maximum size of a message. Servers limit messages to 15 MB, but a single transaction may be
 * larger.
 */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const KEEPALIVE_MS = 30_000;
const KEEPALIVE_TIMEOUT_MS = 10_000;
/** Delay before reconnecting; fixed, because callers back off on their own. */
const RECONNECT_MS = 1_000;

/**
 * @param url `grpcs://host:port`, or `grpc://` without TLS. Its password, or its user name if it
 * has no password, is sent as a bearer token.
 * @param name name of the endpoint in messages
 */
export function createAptosGrpc(url: string, name: string): AptosGrpc {
  const node = nameNode(name, url);
  const { protocol, host, username, password } = new URL(url);
  const key = decodeURIComponent(password || username);
  const client = new Client(
    host,
    protocol === 'grpcs:' ? credentials.createSsl() : credentials.createInsecure(),
    {
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.keepalive_time_ms': KEEPALIVE_MS,
      'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
      'grpc.initial_reconnect_backoff_ms': RECONNECT_MS,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MS,
      // Each client has its own connection, so closing one does not affect others.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_channelz': 0,
    },
  );
  const metadata = new Metadata();
  metadata.set('x-aptos-request-name', 'sluice');
  if (key !== '') metadata.set('authorization', `Bearer ${key}`);

  return {
    call(startingVersion) {
      const stream: ClientReadableStream<Buffer> = client.makeServerStreamRequest(
        METHOD,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        encodeRequest(startingVersion, BATCH_TRANSACTIONS),
        metadata,
      );
      // Without a listener, an error would end the process. The next read throws the error.
      stream.on('error', () => {});
      const messages = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
      return {
        async read() {
          let next: IteratorResult<Buffer, undefined>;
          try {
            next = await messages.next();
          } catch (error) {
            throw toSourceError(error, node);
          }
          if (next.done === true) return undefined;
          try {
            return { ...decodeResponse(next.value), sizeBytes: next.value.length };
          } catch (error) {
            throw new SourceError(
              'inconsistent',
              `${name}: a message could not be decoded: ${node.clean(describeError(error))}`,
            );
          }
        },
        cancel: () => stream.cancel(),
      };
    },
    close: () => client.close(),
  };
}

function toSourceError(error: unknown, { name, clean }: NamedNode): SourceError {
  const { code, details = '', metadata } = error as Partial<ServiceError>;
  const what = `${name}: the transaction stream`;
  const said = clean(details === '' ? describeError(error) : details);
  if (code === status.RESOURCE_EXHAUSTED && /larger than max/i.test(said)) {
    return new SourceError('too-large', `${what} sent a message that is too large: ${said}`);
  }
  // HTTP errors come from a gateway in front of the endpoint.
  if (code === status.RESOURCE_EXHAUSTED || /HTTP status code 429/.test(said)) {
    const retryAfter = metadata?.get('retry-after')[0]?.toString();
    return new SourceError('rate-limited', `${what} is rate limited: ${said}`, {
      retryAfterMs: toRetryAfterMs(retryAfter),
    });
  }
  if (code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED) {
    return new SourceError(
      'unreachable',
      `${what} rejected the API key: ${said}. Pass one as grpcs://:KEY@host:port`,
    );
  }
  const label = code === undefined ? '' : ` (${status[code]})`;
  return new SourceError('unreachable', `${what} failed: ${said}${label}`);
}
