/** Display names of streams and keys. Pure. */

/** Marks, embeddings, overrides and isolates: characters that only change the text direction. */
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const RIGHT_TO_LEFT = /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}/u;

/** Removes the characters that change the direction of adjacent text. */
export const withoutTurns = (name: string): string => name.replaceAll(TURNS, '');

/**
 * Isolates a name within other text, so that it cannot change the direction of what follows. Names
 * in their own element are isolated by `styles.css`.
 */
export function isolated(name: string): string {
  const plain = withoutTurns(name);
  return plain !== name || RIGHT_TO_LEFT.test(plain) ? `\u2068${plain}\u2069` : plain;
}

export const nameOfStream = ({
  tag,
  description = '',
  id,
}: {
  tag: string;
  /** Characters that deliveries omit. */
  description?: string;
  id: string;
}): string => isolated(tag || description || id);

/** Returns the stream's name, or its id if the stream no longer exists. */
export function nameOfStreamId(
  streamId: string,
  streams: readonly { tag: string; description: string; id: string }[] | null | undefined,
): string {
  const stream = streams?.find(({ id }) => id === streamId);
  return stream === undefined ? streamId : nameOfStream(stream);
}

/** Returns the name of an API key; the key from the command line has no name of its own. */
export const formatKey = (name: string): string => (name === 'bootstrap' ? 'first key' : name);
