import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { findDocs } from '../package/packaged.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrapText } from '../terminal/text.ts';

export const declareDocs = (command: Command, terminal: Terminal): Command =>
  command
    .argument('[term]', 'name of a page, words of a heading, or an error code; default: the pages')
    .option('--json', 'print JSON')
    .action((term: string | undefined, { json }: { json?: boolean }) => {
      const sections = term === undefined ? [contents()] : findSections(readSections(), term);
      if (json) return terminal.sayJson(sections);
      for (const [at, { page, text }] of sections.entries()) {
        if (at > 0) terminal.say();
        if (term !== undefined) terminal.note(`docs/${page}.md`, { tone: 'faint' });
        for (const line of toLines(text.trimEnd(), terminal)) terminal.stdout.write(`${line}\n`);
      }
    });

/** On a terminal paragraphs are wrapped; a file gets the page as it is, and code stays as it is everywhere. */
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

/** A heading with what stands below it. */
interface Section {
  /** Path below `docs`, without its ending. */
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
  throw new CommandError('not_found', 'The documentation is not here', 'install sluice again');
}

function readSections(): Section[] {
  const folder = docsFolder();
  return globSync('**/*.md', { cwd: folder })
    .toSorted()
    .flatMap((path) =>
      toSections(path.replace(/\.md$/, ''), readFileSync(join(folder, path), 'utf8')),
    );
}

/** One for each heading, up to the next of its level or above; the first is the whole page. */
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
 * The page of that name; else the sections with that heading; else those whose heading has it.
 *
 * @throws CommandError `not_found`
 */
function findSections(sections: readonly Section[], term: string): Section[] {
  const wanted = comparable(term);
  const page = sections.find((each) => each.page === wanted.replace(/\.md$/, ''));
  if (page !== undefined) return [page];
  const same = sections.filter(({ heading }) => comparable(heading) === wanted);
  const having = sections.filter(({ heading }) => comparable(heading).includes(wanted));
  const found = same.length > 0 ? same : having;
  if (found.length > 0) return found;
  throw new CommandError(
    'not_found',
    `No page and no heading has ${JSON.stringify(term)}`,
    'sluice docs lists the pages',
  );
}

const comparable = (text: string): string => text.toLowerCase().replaceAll('`', '');
