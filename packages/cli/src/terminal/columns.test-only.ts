/** Measures the width of a string with the character tables of Node.js, which readline uses. */
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';

const reader = createInterface({
  input: new PassThrough(),
  output: Object.assign(new PassThrough(), { columns: 1_000_000 }),
  terminal: true,
  prompt: '',
});

export function columnsOf(text: string): number {
  Object.assign(reader, { line: text, cursor: text.length });
  return reader.getCursorPos().cols;
}
