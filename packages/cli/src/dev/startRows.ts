/** What a local service says of itself when it starts. */
import type { Terminal } from '../terminal/terminal.ts';
import { widthOf, wrapText } from '../terminal/text.ts';

const INDENT = 12;

/** A name, its value whole, to be copied, and a hint: beside the value, or below it where that is too narrow. */
export function sayStartRow(
  { say, tint, width }: Pick<Terminal, 'say' | 'tint' | 'width'>,
  name: string,
  value: string,
  hint = '',
): void {
  const row = `  ${name.padEnd(INDENT - 2)}${value}`;
  if (hint === '') return say(row);
  if (widthOf(`${row}  ${hint}`) <= width) return say(`${row}  ${tint('faint', hint)}`);
  say(row);
  for (const line of wrapText(' '.repeat(INDENT) + hint, INDENT, width)) say(tint('faint', line));
}
