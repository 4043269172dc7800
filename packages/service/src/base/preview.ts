import { cutText } from '@sluice/kit/contract';

const CUT = '…';

/** Returns the text, or its first `limit` characters and `…`. */
export const previewText = (text: string, limit: number): string =>
  text.length > limit ? cutText(text, limit) + CUT : text;

/**
 * Returns the JSON of a value, truncated like {@link previewText}, or `nothing` for values that
 * JSON cannot represent.
 * Stops at the limit, because a caller or a node controls the size of the value.
 */
export function previewJson(value: unknown, limit: number): string {
  let text = '';
  const isFull = (): boolean => text.length > limit;
  const write = (each: unknown): void => {
    if (typeof each === 'string') text += JSON.stringify(cutText(each, limit));
    else if (typeof each !== 'object' || each === null) text += JSON.stringify(each) ?? 'nothing';
    else if (Array.isArray(each)) writeList(each);
    else writeObject(each);
  };
  const writeList = (list: readonly unknown[]): void => {
    text += '[';
    for (let n = 0; n < list.length && !isFull(); n++) {
      if (n > 0) text += ',';
      write(list[n]);
    }
    text += ']';
  };
  const writeObject = (object: object): void => {
    text += '{';
    let separator = '';
    for (const [key, each] of Object.entries(object)) {
      if (isFull()) break;
      text += `${separator}${JSON.stringify(cutText(key, limit))}:`;
      separator = ',';
      write(each);
    }
    text += '}';
  };
  write(value);
  return previewText(text, limit);
}
