/** The start screen of a local service. */
import type { Terminal } from '../terminal/terminal.ts';
import { widthOf, wrapText } from '../terminal/text.ts';

const INDENT = 12;

/** Prints a name, an uncut value and a hint. The hint goes on the next line if it doesn't fit. */
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
