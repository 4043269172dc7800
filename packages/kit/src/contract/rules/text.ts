/** Text from a chain or a caller. */

/** Returns the first `length` code points, without splitting a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  let end = 0;
  for (let n = 0; n < length && end < text.length; n++)
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
