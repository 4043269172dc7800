import { problemAt, type LineProblem } from '../../../ui/form/lineProblem.ts';

/**
 * Returns a problem for each invalid line; `wordsFor` describes the problem of a trimmed line, or
 * returns undefined if the line is valid.
 */
export function problemsOfLines(
  text: string,
  wordsFor: (line: string) => string | undefined,
): LineProblem[] {
  let from = 0;
  return text.split('\n').flatMap((full) => {
    const at = from + full.length - full.trimStart().length;
    from += full.length + 1;
    const line = full.trim();
    const words = line === '' ? undefined : wordsFor(line);
    return words === undefined ? [] : [problemAt(text, at, words)];
  });
}
