/** Shortens text, and suggests the known word for a misspelled one. */

/** Returns the first `length` code points, without splitting a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  let end = 0;
  for (let n = 0; n < length && end < text.length; n++)
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
/**
 * Returns the edit distance of two words: the minimum number of characters to insert, delete,
 * replace, or swap with the next one.
 */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + cost);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] && i > 1 && j > 1) {
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      }
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/**
 * Returns the maximum distance of a suggestion: 2 for words of six or more letters, otherwise 1.
 */
const mayDiffer = (word: string): number => (word.length < 6 ? 1 : 2);

/** Returns the closest known word, or the first of several; undefined if none is close enough. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  // Too long to suggest a match.
  if (word.length > 40) return undefined;
  const given = word.toLowerCase();
  const [found] = known
    .map((each) => ({ each, far: distance(given, each.toLowerCase()) }))
    .filter(({ far }) => far <= mayDiffer(given))
    .toSorted((a, b) => a.far - b.far);
  return found?.each;
}
