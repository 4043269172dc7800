/** Configures VitePress. The sidebar follows the lists of pages in the READMEs of `docs`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listApiPages } from '../api/pages.ts';
import type { OpenApi } from '../../packages/console/src/routes/apiReference/openApi.ts';
import { readGroups, type Entry } from '../contents.ts';
import { slugOf } from '../slug.ts';
import { siteOf } from '../stage.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const { version } = JSON.parse(read('packages/cli/package.json')) as { version: string };

interface Item {
  /** Empty for a group without a heading. */
  text: string;
  link?: string;
  target?: string;
  collapsed?: boolean;
  items?: Item[];
}

/** Returns the URL path of a page, without `index.md` or `.md`. */
const linkOf = (file: string): string =>
  `/${siteOf(file).replace(/(?:^|(?<=\/))index\.md$|\.md$/, '')}`;

function toItem({ title, path: name }: Entry): Item {
  const file = path.posix.join('docs', name);
  if (name === 'openapi.json')
    return { text: title, link: '/docs/api/', collapsed: true, items: listApiItems() };
  if (!file.endsWith('.md')) return { text: title, link: `/${file}`, target: '_self' };
  const item = { text: title, link: linkOf(file) };
  if (!file.startsWith('docs/') || !file.endsWith('/README.md')) return item;
  const folder = path.posix.dirname(file);
  const items = readGroups(read(file))
    .flatMap(({ entries }) => entries)
    .map((entry) => ({ text: entry.title, link: linkOf(path.posix.join(folder, entry.path)) }));
  return { ...item, collapsed: true, items };
}

const listApiItems = (): Item[] =>
  listApiPages(JSON.parse(read('docs/openapi.json')) as OpenApi)
    .filter(({ name }) => name !== 'index.md')
    .map(({ name, title }) => ({ text: title, link: linkOf(`docs/api/${name}`) }));

const SIDEBAR: Item[] = [
  {
    text: '',
    items: [
      { text: 'Introduction', link: '/' },
      { text: 'All pages', link: '/docs/' },
    ],
  },
  ...readGroups(read('docs/README.md')).map(({ heading, entries }) => ({
    text: heading,
    items: entries.map(toItem),
  })),
];

const listLinks = (items: readonly Item[]): string[] =>
  items.flatMap(({ link, items: inner = [] }) => [...(link ? [link] : []), ...listLinks(inner)]);
const IN_SIDEBAR = new Set(listLinks(SIDEBAR));

interface Page {
  relativePath: string;
  frontmatter: Record<string, unknown>;
}

export default {
  title: 'Sluice',
  description: 'Watches EVM chains and Aptos and POSTs signed webhooks. Self-hosted.',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: '/favicon.svg' }]],
  markdown: { anchor: { slugify: slugOf } },
  transformHead: ({ pageData: { relativePath } }: { pageData: Page }) =>
    relativePath === '404.md'
      ? []
      : [['link', { rel: 'alternate', type: 'text/markdown', href: `/${relativePath}` }]],
  // By default, a page outside the sidebar links to the first page of the sidebar as the next one.
  transformPageData({ relativePath, frontmatter }: Page) {
    if (!IN_SIDEBAR.has(linkOf(relativePath))) frontmatter['next'] = false;
  },
  themeConfig: {
    logo: '/favicon.svg',
    nav: [
      { text: 'Docs', link: '/docs/' },
      { text: 'API', link: '/docs/api/' },
      { text: 'Examples', link: '/examples/' },
      { text: version, items: [{ text: 'Changelog', link: '/CHANGELOG' }] },
    ],
    sidebar: SIDEBAR,
    outline: [2, 3],
    search: { provider: 'local' },
  },
};
