/**
 * A name server with scripted responses on its own loopback address, and a wrapper that makes one
 * process use it (a mount namespace with its own `/etc/resolv.conf`). Needs root.
 */
import { type Socket, createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';

/** IPv4 addresses, or how the query fails; `silence` sends no response. */
export type NameAnswer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence';

export interface NameServer {
  /**
   * Sets the response for a name; other names do not exist. A function is called for each query for
   * IPv4 addresses.
   */
  answer(name: string, answer: NameAnswer | (() => NameAnswer)): void;
  stop(): void;
}

const ADDRESS = '127.0.53.53';
const PORT = 53;
const HEADER_BYTES = 12;
const TYPE_A = 1;
const CODES = { NXDOMAIN: 3, SERVFAIL: 2 } as const;

/**
 * Writes the file `resolvConf`, and returns a command prefix that runs a program with this name
 * server (`ServeOptions.wrapper`).
 */
export function nameServerCommand(resolvConf: string): string[] {
  writeFileSync(resolvConf, `nameserver ${ADDRESS}\noptions timeout:5 attempts:1\n`);
  return [
    'unshare',
    '--mount',
    'sh',
    '-c',
    'mount --bind "$0" /etc/resolv.conf && exec "$@"',
    resolvConf,
  ];
}

export async function startNameServer(): Promise<NameServer> {
  const answers = new Map<string, NameAnswer | (() => NameAnswer)>();
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = readQuestion(question);
    const scripted = answers.get(name) ?? 'NXDOMAIN';
    // A lookup may query IPv4 and IPv6 addresses, but only the IPv4 query calls the function.
    const isForA = type === TYPE_A;
    const answer = typeof scripted === 'function' ? (isForA ? scripted() : []) : scripted;
    if (answer === 'silence') return;
    socket.send(toReply(question.subarray(0, end), answer, isForA), port, address);
  });
  await listen(socket);
  return {
    answer: (name, answer) => void answers.set(name, answer),
    stop: () => void socket.close(),
  };
}

async function listen(socket: Socket): Promise<void> {
  socket.bind(PORT, ADDRESS);
  await once(socket, 'listening');
}

/** Reads the question (RFC 1035, section 4.1.2): length-prefixed labels, then type and class. */
function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** Builds a reply: the question, and an A record with TTL 0 for each address. */
function toReply(
  question: Buffer,
  answer: Exclude<NameAnswer, 'silence'>,
  isForA: boolean,
): Buffer {
  const addresses = typeof answer === 'string' || !isForA ? [] : answer;
  const reply = Buffer.from(question);
  // Flags: response, recursion desired and available.
  reply.writeUInt16BE(0x8180 | (typeof answer === 'string' ? CODES[answer] : 0), 2);
  reply.writeUInt16BE(1, 4);
  reply.writeUInt16BE(addresses.length, 6);
  reply.writeUInt32BE(0, 8);
  const records = addresses.map((address) =>
    // The record: a pointer to the name in the question, type A, class IN, TTL 0, and 4 bytes of
    // data.
    Buffer.from([
      0xc0,
      HEADER_BYTES,
      0,
      1,
      0,
      1,
      0,
      0,
      0,
      0,
      0,
      4,
      ...address.split('.').map(Number),
    ]),
  );
  return Buffer.concat([reply, ...records]);
}
