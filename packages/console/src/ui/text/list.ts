const conjunction = new Intl.ListFormat('en', { type: 'conjunction' });

/** Joins words as in a sentence: `a, b, and c`. */
export const formatList = (words: readonly string[]): string => conjunction.format(words);
