/** What streams and keys are called. Pure. */

/** Marks, embeddings, overrides and isolates: characters that only turn the direction of text. */
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Letters written from right to left. */
const RIGHT_TO_LEFT = /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}/u;

/** Without the characters that turn what stands beside them. */
export const withoutTurns = (name: string): string => name.replaceAll(TURNS, '');

/**
 * A name within other text: nothing in it turns what follows, whatever it is written in. An element of
 * its own has that by `styles.css`.
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
  /** A delivery does not tell it. */
  description?: string;
  id: string;
}): string => isolated(tag || description || id);

/** By its id; of one that is not there, such as a deleted one, that is its name. */
export function nameOfStreamId(
  streamId: string,
  streams: readonly { tag: string; description: string; id: string }[] | null | undefined,
): string {
  const stream = streams?.find(({ id }) => id === streamId);
  return stream === undefined ? streamId : nameOfStream(stream);
}

/** Name of an API key; the one that the service was started with has none. */
export const formatKey = (name: string): string => (name === 'bootstrap' ? 'first key' : name);
