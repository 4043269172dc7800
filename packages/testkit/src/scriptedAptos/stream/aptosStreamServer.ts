/**
 * Serves a scripted ledger as a gRPC transaction stream. Imported only on demand, because its
 * dependencies are optional.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ServerWritableStream,
  type ServiceDefinition,
  Metadata,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { APTOS_STREAM_PROTO } from './aptosStreamProto.ts';
import type { ScriptedAptosLedger } from '../ledger/scriptedAptosLedger.ts';
import type {
  AptosStreamTrouble,
  RunningScriptedAptosStream,
  StartScriptedAptosStreamOptions,
} from './runningAptosStream.ts';
import { toStreamedTransaction } from './toStreamedTransaction.ts';

const { root } = protobuf.parse(APTOS_STREAM_PROTO);
const requestType = root.lookupType('TransactionsRequest');
const batchType = root.lookupType('Batch');

interface Request {
  startingVersion: { toString(): string };
  transactionsCount: { toString(): string };
  batchSize: { toString(): string };
}

const toRequest = (message: unknown): Request => message as Request;

const service = {
  getTransactions: {
    path: '/aptos.indexer.v1.RawData/GetTransactions',
    requestStream: false,
    responseStream: true,
    requestSerialize: (request: object) => Buffer.from(requestType.encode(request).finish()),
    requestDeserialize: (bytes: Buffer) => toRequest(requestType.decode(bytes)),
    responseSerialize: (message: Buffer) => message,
    responseDeserialize: (bytes: Buffer) => bytes,
  },
} satisfies ServiceDefinition;

const DEFAULT_BATCH = 1_000;
const MAX_BATCH = 1_000;
/** Milliseconds between checks for new transactions. */
const CHECK_MS = 5;

/** Encodes transactions of the REST API as one message of the stream. */
export function encodeAptosBatch(transactions: readonly object[], chainId: number): Buffer {
  const streamed = transactions.map((each) =>
    toStreamedTransaction(each as Record<string, unknown>),
  );
  const message = batchType.fromObject({ transactions: streamed, chainId });
  return Buffer.from(batchType.encode(message).finish());
}

export async function serveAptosStream({
  ledger,
  key,
  port: wantedPort = 0,
}: StartScriptedAptosStreamOptions): Promise<RunningScriptedAptosStream> {
  const calls: number[] = [];
  let sent = 0;
  let trouble: AptosStreamTrouble | undefined;

  const stream = async (call: ServerWritableStream<Request, Buffer>): Promise<void> => {
    const given = call.metadata.get('authorization')[0];
    if (key !== undefined && given !== `Bearer ${key}`) {
      return fail(call, status.UNAUTHENTICATED, 'no such key');
    }
    const start = BigInt(call.request.startingVersion.toString());
    const count = BigInt(call.request.transactionsCount.toString());
    const size = Number(call.request.batchSize.toString()) || DEFAULT_BATCH;
    if (size > MAX_BATCH) return fail(call, status.INVALID_ARGUMENT, 'batch_size is too large');
    calls.push(Number(start));
    const end = count === 0n ? undefined : start + count;
    let next = start;
    while (!call.cancelled && (end === undefined || next < end)) {
      if (trouble?.kind === 'status') {
        return fail(call, trouble.code, trouble.details ?? 'scripted');
      }
      if (trouble?.kind === 'rateLimit') {
        const metadata = new Metadata();
        metadata.set('retry-after', String(trouble.retryAfterSeconds));
        return fail(call, status.RESOURCE_EXHAUSTED, 'scripted', metadata);
      }
      const lag = trouble?.kind === 'lag' ? BigInt(trouble.versions) : 0n;
      const versions = versionsFrom(ledger, next, size, lag);
      if (versions.length === 0 || trouble?.kind === 'hangs') {
        await delay(CHECK_MS);
        continue;
      }
      next += BigInt(versions.length);
      if (!call.write(toMessage(versions))) await once(call, 'drain').catch(() => undefined);
      sent += versions.length;
      if (trouble?.kind === 'ends') break;
    }
    call.end();
  };

  const toMessage = (versions: readonly bigint[]): Buffer => {
    if (trouble?.kind === 'garbage') return Buffer.from('not a message');
    const included =
      trouble?.kind === 'versionGap' && versions.length > 2
        ? versions.toSpliced(Math.floor(versions.length / 2), 1)
        : versions;
    return encodeAptosBatch(
      included.map((version) => ledger.transactionAt(version)!),
      trouble?.kind === 'wrongChainId' ? trouble.chainId : ledger.chainId,
    );
  };

  const server = new Server();
  server.addService(service, {
    getTransactions: (call: ServerWritableStream<Request, Buffer>) => {
      stream(call).catch((error: unknown) => fail(call, status.INTERNAL, String(error)));
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(
      `127.0.0.1:${wantedPort}`,
      ServerCredentials.createInsecure(),
      (error, bound) => (error ? reject(error) : resolve(bound)),
    );
  });

  return {
    url: `grpc://${key === undefined ? '' : `:${encodeURIComponent(key)}@`}127.0.0.1:${port}`,
    port,
    calls,
    get sent() {
      return sent;
    },
    trouble: (next) => {
      trouble = next;
    },
    heal: () => {
      trouble = undefined;
    },
    stop: async () => server.forceShutdown(),
  };
}

/** Returns up to `size` versions from `next` on, without the last `lag` versions of the ledger. */
function versionsFrom(
  ledger: ScriptedAptosLedger,
  next: bigint,
  size: number,
  lag: bigint,
): bigint[] {
  const last = ledger.head.lastVersion - lag;
  const count = Math.max(0, Math.min(size, Number(last - next) + 1));
  return Array.from({ length: count }, (_, n) => next + BigInt(n));
}

function fail(
  call: ServerWritableStream<Request, Buffer>,
  code: number,
  details: string,
  metadata?: Metadata,
): void {
  call.emit('error', { code, details, ...(metadata !== undefined && { metadata }) });
}
