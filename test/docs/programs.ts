/** The programs of a documentation page: what its snippets are once they are put together. */

/**
 * A ts block that imports begins a program; one that does not goes on where the block before it
 * stopped. A text block is what the program prints, unless it comes right after commands.
 */
export interface Program {
  /** `<line of its first block>.ts`, or what a first line such as `// handler.ts` says. */
  readonly file: string;
  readonly code: string;
  /** What it prints; undefined where the page does not say. `…` stands for anything in a line. */
  readonly output: string | undefined;
}

const BLOCK = /^```(ts|text|sh)\n([\s\S]*?)^```$/gm;

/** @throws Error for a page that does not read as programs. */
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
      throw new Error(`Line ${line}: nothing stands before it that it could belong to:\n${block}`);
    } else if (language === 'ts') {
      last.code += text;
    } else {
      last.output = (last.output ?? '') + text;
    }
  }
  return programs;
}

/** Whether `printed` is what the page says: all of it, or lines in it. */
export function prints(output: string, printed: string, how: 'all' | 'lines in it'): boolean {
  const pattern = output
    .split('…')
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('.*');
  return new RegExp(how === 'all' ? `^${pattern}$` : `^${pattern}`, how === 'all' ? '' : 'm').test(
    printed,
  );
}
