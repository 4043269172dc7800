/** Syntax of values by Solidity type. Values of other types can be any text. */
const VALUES: readonly { type: RegExp; form: RegExp; words: string }[] = [
  {
    type: /^u?int\d*$/,
    form: /^(-?\d+|0x[0-9a-f]+)$/i,
    words: 'Enter a whole number. Amounts are in the smallest unit.',
  },
  {
    type: /^address$/,
    form: /^0x[0-9a-f]{40}$/i,
    words: 'Enter an address: 0x and 40 hex digits.',
  },
  { type: /^bool$/, form: /^(true|false)$/, words: 'Enter true or false.' },
  {
    type: /^bytes\d*$/,
    form: /^0x([0-9a-f]{2})*$/i,
    words: 'Enter 0x and an even number of hex digits.',
  },
];

/** Returns the problem of a value of a type, as typed in a form; undefined if it is valid. */
export function valueProblem(type: string, text: string): string | undefined {
  const kind = VALUES.find((each) => each.type.test(type));
  return kind === undefined || kind.form.test(text) ? undefined : kind.words;
}
