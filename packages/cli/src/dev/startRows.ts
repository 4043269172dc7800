/** Prints the rows of the start screen of a local service. */
import type { Terminal } from '../terminal/terminal.ts';
import { widthOf, wrapText } from '../terminal/text.ts';

const INDENT = 12;

/** Prints a name, a complete value and a hint. The hint goes on the next line if it doesn't fit. */
export function printStartRow(
  { print, tint, width }: Pick<Terminal, 'print' | 'tint' | 'width'>,
  name: string,
  value: string,
  hint = '',
): void {
  const row = `  ${name.padEnd(INDENT - 2)}${value}`;
  if (hint === '') return print(row);
  if (widthOf(`${row}  ${hint}`) <= width) return print(`${row}  ${tint('faint', hint)}`);
  print(row);
  for (const line of wrapText(' '.repeat(INDENT) + hint, INDENT, width)) print(tint('faint', line));
}
