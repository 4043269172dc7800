/** Finds dead links in the built site. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { slugOf } from './slug.ts';

const SITE = 'http://site';
const TAG = /<(?:a|link|img|source|script)\b[^>]*>/g;
const ADDRESS = /\b(?:href|src|srcset)="([^"]*)"/g;
const CODE_BLOCK = /^```[\s\S]*?^```$/gm;

/**
 * Checks the links in the HTML, Markdown and text files of a folder: the linked file and anchor
 * must exist. Links to other sites are not checked.
 *
 * @returns `<file>: <link>` for each dead link.
 */
export function findDeadLinks(folder: string): string[] {
  const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
  const anchors = new Map<string, Set<string>>();
  const anchorsOf = (file: string): Set<string> => {
    const known = anchors.get(file) ?? new Set(listAnchors(file, read(file)));
    anchors.set(file, known);
    return known;
  };
  const isDead = (link: string, from: string): boolean => {
    const { origin, pathname, hash } = new URL(link, `${SITE}/${from.replace(/index\.html$/, '')}`);
    if (origin !== SITE) return false;
    const target = findFile(folder, decodeURIComponent(pathname));
    if (target === undefined) return true;
    return hash !== '' && !anchorsOf(target).has(decodeURIComponent(hash.slice(1)));
  };
  return globSync('**/*.{html,md,txt}', { cwd: folder }).flatMap((file) =>
    listLinks(file, read(file))
      .filter((link) => isDead(link, file))
      .map((link) => `${file}: ${link}`),
  );
}

/** Returns the file that a web server sends for a path, or undefined if there is none. */
function findFile(folder: string, pathname: string): string | undefined {
  const name = pathname.slice(1);
  const candidates = /(?:^|\/)$/.test(name) ? [`${name}index.html`] : [name, `${name}.html`];
  return candidates.find((each) => existsSync(path.join(folder, each)));
}

function listLinks(file: string, text: string): string[] {
  if (file.endsWith('.html')) {
    return [...text.matchAll(TAG)]
      .flatMap(([tag]) => [...tag.matchAll(ADDRESS)])
      .map(([, link = '']) => link.replaceAll('&amp;', '&'));
  }
  const links = text.replaceAll(CODE_BLOCK, '').matchAll(/\]\(([^)\s]+)\)/g);
  return [...links].map(([, link = '']) => link);
}

const listAnchors = (file: string, text: string): string[] =>
  file.endsWith('.html')
    ? [...text.matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => id)
    : [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading));
