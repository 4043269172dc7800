/** Assembles the programs of a documentation page from its snippets. */

/**
 * A ts block with imports starts a program; a block without imports continues the previous one. A
 * text block is the program's output, unless it follows commands.
 */
export interface Program {
  /** `<line of its first block>.ts`, or the name in a first line such as `// handler.ts`. */
  readonly file: string;
  readonly code: string;
  /** Expected output; undefined if there is none. `…` matches anything within a line. */
  readonly output: string | undefined;
}

const BLOCK = /^```(ts|text|sh)\n([\s\S]*?)^```$/gm;

/** @throws Error if a block does not belong to a program. */
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

/** Returns whether `printed` equals the page's output, or contains its lines. */
export function prints(output: string, printed: string, how: 'all' | 'lines in it'): boolean {
  const pattern = output
    .split('…')
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('.*');
  return new RegExp(how === 'all' ? `^${pattern}$` : `^${pattern}`, how === 'all' ? '' : 'm').test(
    printed,
  );
}
