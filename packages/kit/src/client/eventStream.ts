/** Reads `text/event-stream` (server-sent events) as specified in the HTML standard. */

export interface ServerEvent {
  /** The last id, from this event or an earlier one; empty before the first id. */
  id: string;
  data: string;
}

/**
 * Parses the bytes of a stream into events; skips comments and events without data.
 *
 * @param onId called with the last id after a skipped event or comment, because clients can resume
 * from this id.
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

/** Yields lines that end with CR, LF or both; drops an unfinished line at the end. */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A CR at the end may be the first half of a CRLF, so its line waits for the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
