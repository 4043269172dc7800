/** The texts of a file that people read: comments, strings and JSX of code, prose of pages. */

export interface Text {
  line: number;
  text: string;
  kind: 'comment' | 'string' | 'prose';
}

const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|>[^<>{}=;()]+</g;

export function readTexts(name: string, source: string): Text[] {
  return name.endsWith('.md') ? readPage(source) : readCode(source);
}

function readCode(source: string): Text[] {
  return [...source.matchAll(TOKEN)].map(({ 0: token, index }) => ({
    line: lineOf(source, index),
    kind: /^\/[/*]/.test(token) ? 'comment' : 'string',
    text: token
      .replace(/\n\s*(\*(?!\/))? ?/g, ' ')
      .replace(/^(\/\*\*?|\/\/|['"`>])\s*/, '')
      .replace(/(\*\/|['"`<])$/, ''),
  }));
}

/** Without code blocks, code spans and quotations. */
function readPage(source: string): Text[] {
  const prose = source
    .replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, '``')
    .replace(/"[^"\n]*"|“[^”]*”/g, '""');
  return prose
    .split('\n')
    .map((text, index) => ({ line: index + 1, text, kind: 'prose' as const }));
}

const lineOf = (source: string, index: number): number => source.slice(0, index).split('\n').length;
