/** What is wrong in a text of several lines, by its place. Pure. */

export interface LineProblem {
  /** 1 for the first. */
  line: number;
  /** Within the line, 1 for the first character. */
  column: number;
  message: string;
}

/** A problem at an index of the text. */
export function problemAt(text: string, index: number, message: string): LineProblem {
  const before = text.slice(0, index);
  return {
    line: before.split('\n').length,
    column: index - before.lastIndexOf('\n'),
    message,
  };
}

/** Where a problem begins, as an index of the text; its end where the text has changed meanwhile. */
export function indexOf(text: string, { line, column }: LineProblem): number {
  const lines = text.split('\n').slice(0, line - 1);
  const from = lines.reduce((sum, each) => sum + each.length + 1, 0);
  return Math.min(text.length, from + column - 1);
}
