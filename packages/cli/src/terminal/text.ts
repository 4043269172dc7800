/** Text made to fit a line: a sentence goes on in the next one, anything else is cut. */
import { WIDTH } from './terminal.ts';

/**
 * A sentence over as many lines of `width` columns as it needs, the later ones indented. A word that is too long for a line
 * (a URL, a path) stays whole, to be copied, and stands as far left as it needs.
 */
export function wrapText(text: string, indent: number, width = WIDTH): string[] {
  const lines: string[] = [];
  const [first = '', ...words] = text.split(' ');
  let line = first;
  for (const word of words) {
    if (line.trim() === '' || line.length + 1 + word.length <= width) line += ` ${word}`;
    else {
      lines.push(line.trimEnd());
      line = ' '.repeat(Math.max(0, Math.min(indent, width - word.length))) + word;
    }
  }
  return [...lines, line];
}

/** `text` in `width` columns, with `…` where something was left out. */
export function cutText(text: string, width: number, where: 'middle' | 'end' = 'end'): string {
  if (text.length <= width) return text;
  const characters = Array.from(text);
  if (characters.length <= width) return text;
  const front = where === 'end' ? width - 1 : Math.ceil((width - 1) / 2);
  const back = characters.slice(characters.length - (width - 1 - front));
  return `${characters.slice(0, front).join('')}…${back.join('')}`;
}
