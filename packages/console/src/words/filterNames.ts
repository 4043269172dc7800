/** Words for the special names in filters, which are not parameters of the event. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['moralis_streams_contract_address', 'contract'],
  ['moralis_streams_chain_id', 'chain'],
  ['moralis_streams_possibleSpam', 'possible spam'],
]);

/** Returns what to show for a name in a filter: a word for a special name, otherwise the name. */
export const wordOfFilterName = (name: string): string => WORDS.get(name) ?? name;
