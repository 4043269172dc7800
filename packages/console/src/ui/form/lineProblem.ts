/** Locates problems in multi-line text. */

export interface LineProblem {
  /** Line, starting at 1. */
  line: number;
  /** Position in the line, starting at 1. */
  column: number;
  message: string;
}

/** Creates a problem from an index in the text. */
export function problemAt(text: string, index: number, message: string): LineProblem {
  const before = text.slice(0, index);
  return {
    line: before.split('\n').length,
    column: index - before.lastIndexOf('\n'),
    message,
  };
}

/**
 * Returns the index of a problem in the text, or the end of the text if it has become too short.
 */
export function indexOf(text: string, { line, column }: LineProblem): number {
  const lines = text.split('\n').slice(0, line - 1);
  const from = lines.reduce((sum, each) => sum + each.length + 1, 0);
  return Math.min(text.length, from + column - 1);
}
