/** A Kafka broker that does on cue what librdkafka's mock cluster cannot do. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { type TlsOptions, createServer as createTlsServer } from 'node:tls';
import { Reader, Writer, readRecordsBatch } from '@platformatic/kafka';
import { onTestFinished } from 'vitest';

export interface ScriptedBroker {
  readonly port: number;
  /** Values of the records in each request, by partition. */
  readonly produced: readonly Map<number, string[]>[];
  /** Number of open connections. */
  readonly connections: number;
}

export interface BrokerScript {
  tls?: TlsOptions;
  /** Mechanism and login that clients must use. Default: none. */
  sasl?: { mechanism: string; user: string; password: string; iterations?: number };
  /** Error code of the topic. Default: 0. */
  topicError?: number;
  /** Leaders of the partitions, each by its host and port. Default: two partitions of this broker. */
  leaders?: () => readonly { host: string; port: number }[];
  /** Returns the error code for a partition, or `silence`. Default: 0. */
  produce?: (values: readonly string[], partition: number) => Promise<number> | number | 'silence';
  /** Text of the broker for an error code. */
  detail?: string;
  /** Replaces each response. */
  respond?: (response: Buffer) => Buffer;
}

const API = { produce: 0, metadata: 3, handshake: 17, versions: 18, authenticate: 36 };
/** The newest versions that the service uses, so that they are tested besides those of the mock. */
const VERSIONS = [
  [API.produce, 3, 9],
  [API.metadata, 1, 12],
  [API.handshake, 0, 1],
  [API.versions, 0, 3],
  [API.authenticate, 0, 1],
] as const;
const MAX_REQUEST_BYTES = 100 * 1024 * 1024;
const SASL_FAILED = 58;
const MECHANISM_UNSUPPORTED = 33;

/** Starts a broker on a free port of 127.0.0.1, which ends with the test. */
export async function startScriptedBroker(script: BrokerScript = {}): Promise<ScriptedBroker> {
  const produced: Map<number, string[]>[] = [];
  const sockets = new Set<Socket>();
  const accept = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    let scram: ReturnType<typeof createScramServer> | undefined;
    let working = Promise.resolve();

    const answer = async (request: Buffer): Promise<void> => {
      const reader = Reader.from(request);
      const [api, version, correlation] = [
        reader.readInt16(),
        reader.readInt16(),
        reader.readInt32(),
      ];
      reader.readNullableString(false);
      const response = Writer.create().appendInt32(correlation);
      if (api === API.versions) {
        response
          .appendInt16(0)
          .appendArray(
            [...VERSIONS],
            (w, [key, min, max]) => w.appendInt16(key).appendInt16(min).appendInt16(max),
            false,
            false,
          );
        if (version > 0) response.appendInt32(0);
      } else if (api === API.handshake) {
        const isKnown = reader.readString(false) === script.sasl?.mechanism;
        const known = script.sasl === undefined ? [] : [script.sasl.mechanism];
        response
          .appendInt16(isKnown ? 0 : MECHANISM_UNSUPPORTED)
          .appendArray(known, (w, each) => w.appendString(each, false), false, false);
      } else if (api === API.authenticate) {
        const { mechanism, user, password } = script.sasl!;
        const given = reader.readBytes(false).toString();
        scram ??= createScramServer(script.sasl!);
        const reply =
          mechanism === 'PLAIN'
            ? given === `\0${user}\0${password}`
              ? ''
              : undefined
            : scram(given);
        response
          .appendInt16(reply === undefined ? SASL_FAILED : 0)
          .appendString(reply === undefined ? (script.detail ?? null) : null, false)
          .appendBytes(Buffer.from(reply ?? ''), false)
          .appendInt64(0n);
      } else if (api === API.metadata) {
        reader.readTaggedFields();
        const [topic] = reader.readArray((r) => [r.readUUID(), r.readString()][1]!);
        writeMetadata(response, topic!);
      } else {
        reader.readTaggedFields();
        if (!(await writeProduced(response, reader))) return;
      }
      const { buffer } = response.prependLength();
      socket.write(script.respond?.(buffer) ?? buffer);
    };

    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      // Brokers close a connection with an impossible size, such as one of TLS.
      if (received.length >= 4 && received.readUInt32BE() > MAX_REQUEST_BYTES) socket.destroy();
      while (received.length >= 4 && received.length >= 4 + received.readInt32BE()) {
        const end = 4 + received.readInt32BE();
        const request = received.subarray(4, end);
        received = received.subarray(end);
        working = working.then(() => answer(request));
      }
    });
  };

  const server = script.tls ? createTlsServer(script.tls, accept) : createServer(accept);
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    for (const each of sockets) each.destroy();
    server.close();
  });

  const writeMetadata = (response: Writer, topic: string): void => {
    const here = { host: 'localhost', port };
    const leaders = script.leaders?.() ?? [here, here];
    const isKnown = (script.topicError ?? 0) === 0;
    response
      .appendTaggedFields()
      .appendInt32(0)
      .appendArray([...leaders], (w, each, id) =>
        w.appendInt32(id).appendString(each.host).appendInt32(each.port).appendString(null),
      )
      .appendString('cluster')
      .appendInt32(0)
      .appendArray([topic], (w) =>
        w
          .appendInt16(script.topicError ?? 0)
          .appendString(topic)
          .appendUUID(null)
          .appendBoolean(false)
          .appendArray(isKnown ? [...leaders] : [], (p, _, id) => {
            p.appendInt16(0).appendInt32(id).appendInt32(id).appendInt32(0);
            for (const ids of [[id], [id], []])
              p.appendArray(ids, (i, each) => i.appendInt32(each), true, false);
          })
          .appendInt32(0),
      )
      .appendTaggedFields();
  };

  /** Returns false for no response. */
  const writeProduced = async (response: Writer, reader: Reader): Promise<boolean> => {
    reader.readNullableString();
    const acks = reader.readInt16();
    if (acks !== -1) throw new Error(`acks ${acks}`);
    reader.readInt32();
    const request = new Map<number, string[]>();
    const topics = reader.readArray((r) => {
      const name = r.readString();
      r.readArray((p) => {
        const index = p.readInt32();
        const { records } = readRecordsBatch(Reader.from(p.readBytes()));
        request.set(
          index,
          records.map(({ value }) => String(value)),
        );
      });
      return name;
    });
    produced.push(request);
    const codes = new Map<number, number>();
    for (const [index, values] of request) {
      const code = (await script.produce?.(values, index)) ?? 0;
      if (code === 'silence') return false;
      codes.set(index, code);
    }
    response
      .appendTaggedFields()
      .appendArray(topics, (w, name) =>
        w.appendString(name).appendArray([...codes], (p, [index, code]) =>
          p
            .appendInt32(index)
            .appendInt16(code)
            .appendInt64(7n)
            .appendInt64(-1n)
            .appendInt64(0n)
            .appendArray([], () => {})
            .appendString(code === 0 ? null : (script.detail ?? null)),
        ),
      )
      .appendInt32(0)
      .appendTaggedFields();
    return true;
  };

  return {
    port,
    produced,
    get connections() {
      return sockets.size;
    },
  };
}

/** The server's part of SCRAM (RFC 5802): returns each message, or undefined for a wrong login. */
function createScramServer({
  mechanism,
  user,
  password,
  iterations = 4_096,
}: NonNullable<BrokerScript['sasl']>): (message: string) => string | undefined {
  const hash = mechanism.endsWith('512') ? 'sha512' : 'sha256';
  const salt = Buffer.from('a salt');
  const hmac = (key: Buffer, text: string) => createHmac(hash, key).update(text).digest();
  let started = '';
  return (message) => {
    if (started === '') {
      const bare = message.slice('n,,'.length);
      const [, name, nonce] = /^n=(.*),r=(.*)$/.exec(bare)!;
      if (name !== user) return undefined;
      const first = `r=${nonce}server,s=${salt.toString('base64')},i=${iterations}`;
      started = `${bare},${first}`;
      return first;
    }
    const [, rest, proof] = /^(.*),p=(.*)$/.exec(message)!;
    const size = createHash(hash).digest().length;
    const salted = pbkdf2Sync(password, salt, iterations, size, hash);
    const key = hmac(salted, 'Client Key');
    const signature = hmac(createHash(hash).update(key).digest(), `${started},${rest}`);
    const expected = key.map((byte, n) => byte ^ signature[n]!);
    if (Buffer.from(proof!, 'base64').compare(expected) !== 0) return undefined;
    return `v=${hmac(hmac(salted, 'Server Key'), `${started},${rest}`).toString('base64')}`;
  };
}
