/** Reads the texts in a file: the comments, strings and JSX of code, or the prose of a page. */
import { parseSync } from 'vite';

export interface Text {
  line: number;
  text: string;
  kind: 'comment' | 'string' | 'prose';
}

/**
 * Replacement for code spans. It is not empty, because two adjacent backticks would open another
 * span in Markdown.
 */
const CODE = '`…`';
/** Matches strings that are not prose: identifiers, paths and values. */
const NAME = /^[a-z./@][\w./:@-]*$/;

export function readTexts(name: string, source: string): Text[] {
  return name.endsWith('.md') ? readPage(source) : readCode(name, source);
}

function readCode(name: string, source: string): Text[] {
  const { comments, program } = parseSync(name, source);
  const at = (offset: number): number => source.slice(0, offset).split('\n').length;
  return [
    ...comments.map(({ value, start }) => ({
      line: at(start),
      kind: 'comment' as const,
      text: value
        .replaceAll(/^\s*\*/gm, '')
        .replaceAll(/\s*\n\s*(@?)/g, (_, tag) => (tag === '@' ? '\n@' : ' '))
        .replaceAll(/`[^`]*`/g, CODE)
        .trim(),
    })),
    ...listStrings(program).map(({ text, start }) => ({
      line: at(start),
      kind: 'string' as const,
      text: text.replaceAll(/`[^`]*`/g, CODE),
    })),
  ].toSorted((a, b) => a.line - b.line);
}

/** Lists the prose in a syntax tree: string literals, JSX text and template strings. */
function listStrings(node: unknown): { text: string; start: number }[] {
  if (Array.isArray(node)) return node.flatMap(listStrings);
  if (typeof node !== 'object' || node === null) return [];
  const { type, value, start } = node as { type?: string; value?: unknown; start: number };
  if ((type === 'Literal' || type === 'JSXText') && typeof value === 'string') {
    return type === 'Literal' && NAME.test(value) ? [] : [{ text: value, start }];
  }
  if (type === 'TemplateElement') return [{ text: (value as { raw: string }).raw, start }];
  return Object.values(node).flatMap(listStrings);
}

/** Returns the lines of a page, without code and quotations. */
function readPage(source: string): Text[] {
  const prose = source
    .replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, CODE)
    .replace(/"[^"\n]*"|“[^”]*”/g, '""');
  return prose
    .split('\n')
    .map((text, index) => ({ line: index + 1, text, kind: 'prose' as const }));
}
