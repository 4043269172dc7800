/** Reads `text/event-stream` (server-sent events) as the HTML standard says. */

export interface ServerEvent {
  /** The last id sent, by this event or an earlier one; empty before the first. */
  id: string;
  data: string;
}

/**
 * Bytes of the stream in, events out; comments and events without data are passed over.
 * @param onId told of an id that came without data: the place to resume from all the same.
 */
export async function* readEventStream(
  chunks: AsyncIterable<Uint8Array>,
  onId: (id: string) => void = () => {},
): AsyncGenerator<ServerEvent, undefined> {
  let id = '';
  let data: string[] = [];
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (data.length > 0) yield { id, data: data.join('\n') };
      else if (id !== '') onId(id);
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'id' && !value.includes('\0')) id = value;
  }
}

/** Lines that have ended, by CR, LF or both; the rest of a broken-off stream is dropped. */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A CR at the very end may be the first half of CRLF: it waits for what follows.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
