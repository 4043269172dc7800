/** Fits text into terminal columns. CJK characters and emoji take two columns. */

const NOT_NARROW = /[^\u0020-\u02ff]/;
/** Matches East Asian wide and fullwidth characters, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u2630-\u2637\u268a-\u268f\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d15e}-\u{1d1c0}\u{1d300}-\u{1d376}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
/** Matches combining marks and zero-width characters, which take no column. */
const ZERO = /[\p{Mn}\p{Me}\u200b-\u200d]/u;
/**
 * Variation selector that turns the previous narrow character into a wide emoji, so it counts as
 * one column.
 */
const EMOJI_STYLE = '\ufe0f';

const widthOfCharacter = (character: string): number => {
  if (!NOT_NARROW.test(character) || character === EMOJI_STYLE) return 1;
  if (WIDE.test(character)) return 2;
  return ZERO.test(character) ? 0 : 1;
};

/**
 * Returns the width of a string in columns. Joined emoji take fewer columns on terminals that draw
 * them as one character.
 */
export function widthOf(text: string): number {
  if (!NOT_NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/**
 * Wraps a sentence at `width` columns and indents all lines but the first. A long word, such as a
 * URL, is never split, so that it can be copied; CJK text may break between characters.
 */
export function wrapText(text: string, indent: number, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const [at, word] of text.split(' ').entries()) {
    const pieces = widthOf(word) <= width - indent ? [word] : divide(word);
    for (const [part, piece] of pieces.entries()) {
      const gap = at > 0 && part === 0 ? ' ' : '';
      if (widthOf(line + gap + piece) <= width) line += gap + piece;
      else {
        if (line.trim() !== '') lines.push(line.trimEnd());
        line = ' '.repeat(Math.max(0, Math.min(indent, width - widthOf(piece)))) + piece;
      }
    }
  }
  return [...lines, line];
}

/** Splits a word before and after each wide character. */
function divide(word: string): string[] {
  const pieces: string[] = [];
  let before = 2;
  for (const character of word) {
    const columns = widthOfCharacter(character);
    if (pieces.length > 0 && (columns === 0 || columns + before === 2)) {
      pieces[pieces.length - 1] += character;
    } else pieces.push(character);
    if (columns > 0) before = columns;
  }
  return pieces;
}

/** Shortens a string to `width` columns and replaces the omitted part with `…`. */
export function cutText(text: string, width: number, where: 'middle' | 'end' = 'end'): string {
  if (widthOf(text) <= width) return text;
  const characters = Array.from(text);
  const back = take(characters.toReversed(), where === 'end' ? 0 : Math.floor((width - 1) / 2));
  // A combining mark without its base character would be drawn on the `…`.
  while (ZERO.test(back.at(-1) ?? '')) back.pop();
  const end = back.toReversed().join('');
  const front = take(characters, width - 1 - widthOf(end)).join('');
  return `${front}…${end}`;
}

/** Returns the leading characters that fit into `width` columns. */
function take(characters: readonly string[], width: number): string[] {
  let left = width;
  const most = characters.findIndex((each) => (left -= widthOfCharacter(each)) < 0);
  return characters.slice(0, most);
}

/** Pads a string with spaces to `width` columns. */
export function padText(text: string, width: number, where: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - widthOf(text)));
  return where === 'left' ? text + spaces : spaces + text;
}

/** Shortens an address or a hash: `0x7099…79c8`. */
export const shortenHash = (hash: string): string => `${hash.slice(0, 6)}…${hash.slice(-4)}`;
