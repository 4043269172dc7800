/** Display names of streams and keys. */

/**
 * Matches characters that only control the text direction: marks, embeddings, overrides and
 * isolates.
 */
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const RIGHT_TO_LEFT = /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}/u;

/** Removes the characters that control the direction of adjacent text. */
export const withoutTurns = (name: string): string => name.replaceAll(TURNS, '');

/**
 * Isolates a name within other text, so that it cannot change the direction of the text after it.
 * Names in their own element are isolated by `styles.css`.
 */
export function isolateName(name: string): string {
  const plain = withoutTurns(name);
  return plain !== name || RIGHT_TO_LEFT.test(plain) ? `\u2068${plain}\u2069` : plain;
}

export const nameOfStream = ({
  tag,
  description = '',
  id,
}: {
  tag: string;
  /** Undefined if the stream is only known from a delivery. */
  description?: string;
  id: string;
}): string => isolateName(tag || description || id);

/** Returns the stream's name, or its id if the list does not contain the stream. */
export function nameOfStreamId(
  streamId: string,
  streams: readonly { tag: string; description: string; id: string }[] | null | undefined,
): string {
  const stream = streams?.find(({ id }) => id === streamId);
  return stream === undefined ? streamId : nameOfStream(stream);
}

/**
 * Returns the display name of an API key. The key from `--api-key` has no name, only the id
 * `bootstrap`.
 */
export const formatKey = (name: string): string => (name === 'bootstrap' ? '--api-key' : name);

/** Words for the special names in filters, which are not parameters of the event or function. */
const FILTER_NAMES: ReadonlyMap<string, string> = new Map([
  ['moralis_streams_contract_address', 'contract'],
  ['moralis_streams_chain_id', 'chain'],
  ['moralis_streams_possibleSpam', 'possible spam'],
  ['sluice_sender', 'sender'],
  ['sluice_value', 'value in wei'],
]);

/** Returns what to show for a name in a filter: a word for a special name, otherwise the name. */
export const wordOfFilterName = (name: string): string => FILTER_NAMES.get(name) ?? name;
