import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { examples } from '../flags/examples.ts';
import { findDocs } from '../package/packaged.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrapText } from '../terminal/text.ts';

export const declareDocs = (command: Command, terminal: Terminal): Command =>
  command
    .argument(
      '[term]',
      'Name of a page, words of a heading or of the text, or an error code; default: list the pages',
    )
    .option('--json', 'Print JSON')
    .addHelpText('after', examples('sluice docs quickstart', 'sluice docs "private chain"'))
    .action((term: string | undefined, { json }: { json?: boolean }) => {
      const sections = term === undefined ? [contents()] : findSections(readSections(), term);
      if (json) return terminal.printJson(sections);
      for (const [at, { page, text }] of sections.entries()) {
        if (at > 0) terminal.print();
        if (term !== undefined) terminal.note(`docs/${page}.md`, { tone: 'faint' });
        for (const line of toLines(text.trimEnd(), terminal)) terminal.stdout.write(`${line}\n`);
      }
    });

/** Splits text into lines. On a terminal, also wraps them, except in code blocks. */
function toLines(text: string, { stdout, width }: Terminal): string[] {
  const lines = text.split('\n');
  if (!stdout.isTTY) return lines;
  let isCode = false;
  return lines.flatMap((line) => {
    const isFence = line.startsWith('```');
    if (isFence) isCode = !isCode;
    return isCode || isFence ? [line] : wrapText(line, /^\s*(?:- )?/.exec(line)![0].length, width);
  });
}

/** A heading with the text below it, including subsections. */
interface Section {
  /** Path in `docs`, without the extension `.md`. */
  page: string;
  heading: string;
  text: string;
}

const LIST_OF_PAGES = 'llms.txt';

function contents(): Section {
  const text = readFileSync(join(docsFolder(), LIST_OF_PAGES), 'utf8');
  return { page: LIST_OF_PAGES, heading: 'Sluice', text };
}

function docsFolder(): string {
  const folder = findDocs();
  if (folder !== undefined) return folder;
  throw new CommandError('not_found', 'The documentation is not installed', 'reinstall sluice');
}

function readSections(): Section[] {
  const folder = docsFolder();
  return globSync('**/*.md', { cwd: folder })
    .toSorted()
    .flatMap((path) =>
      toSections(path.replace(/\.md$/, ''), readFileSync(join(folder, path), 'utf8')),
    );
}

/**
 * Splits a page by headings. A section includes its subsections; the first section is the complete
 * page.
 */
function toSections(page: string, text: string): Section[] {
  const lines = text.split('\n');
  let isCode = false;
  const headings = lines.flatMap((line, at) => {
    if (line.startsWith('```')) isCode = !isCode;
    const found = isCode ? null : /^(#+) (.+)$/.exec(line);
    return found === null ? [] : [{ at, level: found[1]!.length, heading: found[2]! }];
  });
  return headings.map(({ at, level, heading }, nth) => {
    const end = headings.slice(nth + 1).find((next) => next.level <= level)?.at;
    return { page, heading, text: lines.slice(at, end).join('\n') };
  });
}

/**
 * Finds the page with this name, else the sections with this heading, else the sections whose
 * heading contains the words, else the sections whose text contains them most often.
 *
 * @throws CommandError `not_found` if nothing matches.
 */
function findSections(sections: readonly Section[], term: string): Section[] {
  const wanted = comparable(term);
  const page = sections.find((each) => comparable(each.page) === wanted.replace(/\.md$/, ''));
  if (page !== undefined) return [page];
  const same = sections.filter(({ heading }) => comparable(heading) === wanted);
  if (same.length > 0) return same;
  const words = wordsOf(wanted).map((word) => word.replace(/(?<=...)s$/, ''));
  const found = (text: string): number => {
    const all = wordsOf(text);
    return words.filter((word) => all.some((each) => each.startsWith(word))).length;
  };
  const hasAll = (text: string): boolean => found(text) === words.length;
  // Decisions explain the design, so they are found by name and exact heading only.
  const guides = sections.filter(({ page: path }) => !path.startsWith('decisions/'));
  const having = guides.filter(({ heading }) => hasAll(heading));
  if (having.length > 0) return withoutParents(having);
  const inText = ({ text }: Section): number => comparable(text).split(words.join(' ')).length;
  const mentioning = withoutParents(guides.filter(({ text }) => hasAll(text)))
    .toSorted((a, b) => found(b.heading) - found(a.heading) || inText(b) - inText(a))
    .slice(0, MAX_MENTIONING);
  if (mentioning.length > 0) return mentioning;
  throw new CommandError(
    'not_found',
    `No page, heading or text matches ${JSON.stringify(term)}`,
    'list the pages: sluice docs',
  );
}

/** Maximum number of sections that are found by their text. */
const MAX_MENTIONING = 3;

/** Drops sections that contain another one of the list, which is more specific. */
const withoutParents = (sections: readonly Section[]): Section[] =>
  sections.filter(
    (outer) =>
      !sections.some(
        (inner) =>
          inner !== outer && inner.page === outer.page && outer.text.includes(inner.text.trimEnd()),
      ),
  );

/** Ignores case, code marks and hyphens: ERC20 finds ERC-20. */
const comparable = (text: string): string => text.toLowerCase().replaceAll(/[`-]/g, '');

const wordsOf = (text: string): string[] => comparable(text).split(/[^\p{L}\p{N}_]+/u);
