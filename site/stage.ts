/**
 * Prepares the source files of the site: pages of the repository, and the files that they link to.
 */
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listApiPages } from './api/pages.ts';
import type { OpenApi } from '../packages/console/src/routes/apiReference/openApi.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Pages to start with. The files that they link to are added. */
const FIRST = ['README.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
const CONTENTS = 'docs/README.md';
const ICON = 'packages/console/public/favicon.svg';

const CODE_BLOCK = /(^```[\s\S]*?^```$)/m;
const LINK = /(\]\()([^)\s]+)(?=\))|(\b(?:src|srcset)=")([^"]+)/g;

/**
 * Returns whether a file is code. Code files become pages, because web servers disagree about the
 * media type of `.ts`.
 */
const isCode = (file: string): boolean => /\.[jt]s$/.test(file);

/** Returns a file's path on the site, given its path in the repository. */
export function siteOf(file: string): string {
  const { dir, name, ext } = path.posix.parse(file);
  if (isCode(file)) return path.posix.join(dir, `${name}-${ext.slice(1)}.md`);
  return path.posix.join(dir, name === 'README' ? `index${ext}` : name + ext);
}

/**
 * Rewrites the links of a page for the site.
 *
 * @param file path of the page in the repository.
 * @param found called with the path of each linked file in the repository.
 */
export function rewriteLinks(text: string, file: string, found: (target: string) => void): string {
  const rewrite = (link: string, isAsset: boolean): string => {
    if (/^(?:\w+:|#)/.test(link)) return link;
    const [target = '', anchor = ''] = link.split(/(?=#)/);
    const wanted = path.posix.join(path.posix.dirname(file), target);
    found(wanted);
    if (isAsset) return `/${siteOf(wanted)}`;
    const { base } = path.posix.parse(siteOf(wanted));
    return path.posix.join(path.posix.dirname(target), base) + anchor;
  };
  return text
    .split(CODE_BLOCK)
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part.replaceAll(LINK, (_, open, link, attribute, asset) =>
            open === undefined ? attribute + rewrite(asset, true) : open + rewrite(link, false),
          ),
    )
    .join('');
}

/**
 * Empties the folder, then writes the pages to it and all other files to its subfolder `public`.
 * Returns the paths of the pages, relative to the folder.
 */
export function stage(folder: string): string[] {
  rmSync(folder, { recursive: true, force: true });
  const pages: string[] = [];
  const write = (name: string, text: string): void => {
    const at = path.join(folder, name);
    mkdirSync(path.dirname(at), { recursive: true });
    writeFileSync(at, text);
    if (name.endsWith('.md')) pages.push(name);
  };
  const copy = (file: string, name: string): void => {
    const at = path.join(folder, 'public', name);
    mkdirSync(path.dirname(at), { recursive: true });
    copyFileSync(path.join(ROOT, file), at);
  };
  const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

  const files = new Set(FIRST);
  // The loop also visits the linked files that it adds to the set.
  for (const file of files) {
    if (!statSync(path.join(ROOT, file), { throwIfNoEntry: false })?.isFile()) continue;
    if (/\.(?:md|txt)$/.test(file)) {
      const text = rewriteLinks(read(file), file, (target) => files.add(target));
      if (file.endsWith('.txt')) write(`public/${file}`, text);
      else write(siteOf(file), file === CONTENTS ? text.replace('(openapi.json)', '(api/)') : text);
    } else if (isCode(file)) {
      write(siteOf(file), toPage(file, read(file)));
    } else {
      copy(file, file);
    }
  }
  const document = JSON.parse(read('docs/openapi.json')) as OpenApi;
  const api = listApiPages(document);
  for (const { name, text } of api) write(`docs/api/${name}`, text);
  const list = read('docs/llms.txt').replaceAll('](', '](docs/');
  const apiList = api.map(({ name, title, about }) => `- [${title}](docs/api/${name}): ${about}\n`);
  write(
    'public/llms.txt',
    `${rewriteLinks(list, 'llms.txt', () => {})}\n## API pages\n\n${apiList.join('')}`,
  );
  copy(ICON, 'favicon.svg');
  return pages;
}

const toPage = (file: string, code: string): string =>
  `# ${path.posix.basename(file)}\n\n\`${file}\`\n\n\`\`\`${path.posix.extname(file).slice(1)}\n${code}\`\`\`\n`;
