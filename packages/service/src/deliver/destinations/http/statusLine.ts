/**
 * Reads the status line of a response from its connection as soon as it arrives. undici reports the
 * status only after all headers, which may be cut, invalid or too large.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

export interface StatusLine {
  /** Returns the status; null before the status line has arrived. */
  read(): number | null;
}

interface Watched extends StatusLine {
  /** Reads the next bytes of the response. */
  take(chunk: Buffer): void;
}

/** Maximum length of the status line and of interim responses before it. */
const LIMIT = 16 * 1024;

function createStatusLine(): Watched {
  let text: string | undefined = '';
  let status: number | null = null;
  return {
    read: () => status,
    take(chunk) {
      if (text === undefined) return;
      text += chunk.toString('latin1', 0, LIMIT);
      while (text !== undefined) {
        const found = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?\r?\n/.exec(text);
        if (found === null) {
          if (text.length >= LIMIT) text = undefined;
          return;
        }
        const code = Number(found[1]);
        if (code >= 200) {
          status = code;
          text = undefined;
          return;
        }
        // Interim responses, such as 100 Continue, precede the response.
        const end = text.indexOf('\r\n\r\n');
        if (end < 0) return;
        text = text.slice(end + 4);
      }
    },
  };
}

/** The status line of the response that each connection waits for. */
const awaited = new WeakMap<Socket, Watched>();
let starting: Watched | undefined;

/** Returns the status line of the request that undici sends next, in the same call. */
export function watchStatusLine(): StatusLine {
  starting = createStatusLine();
  return starting;
}

subscribe('undici:client:sendHeaders', (message) => {
  if (starting === undefined) return;
  const { socket } = message as { socket: Socket };
  if (!awaited.has(socket)) watch(socket);
  awaited.set(socket, starting);
  starting = undefined;
});

/** Lets the status line see all that undici reads from a connection. */
function watch(socket: Socket): void {
  const read = socket.read.bind(socket);
  socket.read = (size?: number): unknown => {
    const chunk = read(size) as Buffer | null;
    if (chunk !== null) awaited.get(socket)?.take(chunk);
    return chunk;
  };
}
