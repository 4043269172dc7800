/** Assembles the programs of a documentation page from its snippets. */

/**
 * A program of a page. A `ts` block with imports starts a program, and one without imports
 * continues it. A `text` block is the output of the program, unless it follows an `sh` block.
 */
export interface Program {
  /** Name from a first line such as `// handler.ts`; otherwise, `<line of the first block>.ts`. */
  readonly file: string;
  readonly code: string;
  /** Expected output; undefined if there is none. `…` matches anything within a line. */
  readonly output: string | undefined;
}

const BLOCK = /^```(ts|text|sh)\n([\s\S]*?)^```$/gm;

/**
 * Returns the programs of a page, in order.
 *
 * @throws Error if output or a `ts` block without imports comes before the first program.
 */
export function readPrograms(page: string): Program[] {
  const programs: { file: string; code: string; output: string | undefined }[] = [];
  let isOfCommands = false;
  for (const { 0: block, 1: language, 2: text = '', index } of page.matchAll(BLOCK)) {
    if (language === 'sh' || (language === 'text' && isOfCommands)) {
      isOfCommands = language === 'sh';
      continue;
    }
    isOfCommands = false;
    const line = page.slice(0, index).split('\n').length;
    const last = programs.at(-1);
    if (language === 'ts' && /^import /m.test(text)) {
      const file = /^\/\/ (\w+\.ts)$/m.exec(text.split('\n', 1)[0] ?? '')?.[1] ?? `${line}.ts`;
      programs.push({ file, code: text, output: undefined });
    } else if (last === undefined) {
      throw new Error(`Line ${line}: this block follows no program:\n${block}`);
    } else if (language === 'ts') {
      last.code += text;
    } else {
      last.output = (last.output ?? '') + text;
    }
  }
  return programs;
}

/**
 * Returns whether `printed` is the output on the page (`all`), or contains it from the start of a
 * line (`lines in it`).
 */
export function prints(output: string, printed: string, how: 'all' | 'lines in it'): boolean {
  const pattern = output
    .split('…')
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('.*');
  return new RegExp(how === 'all' ? `^${pattern}$` : `^${pattern}`, how === 'all' ? '' : 'm').test(
    printed,
  );
}
