/** Palette commands that open the documentation pages in a new tab. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Command } from './command.ts';

/** A line of `llms.txt`: a title, the path of a page, and what the page is about. */
const ENTRY = /^- \[([^\]\n]{1,100})\]\((\w[\w/-]{0,99}\.md)\)(?:: (.{1,200}))?$/gm;

interface DocsPage {
  title: string;
  /** Path below `/docs/`. */
  path: string;
  about: string;
}

/** Returns each page in the list once, with the title of its first entry. */
export function parseDocs(list: string): DocsPage[] {
  const pages = new Map<string, DocsPage>();
  for (const [, title = '', path = '', about = ''] of list.matchAll(ENTRY)) {
    if (!pages.has(path)) pages.set(path, { title, path, about });
  }
  return [...pages.values()];
}

/** Loads the list of documentation pages; empty if the service is installed without them. */
const docsQuery = queryOptions({
  queryKey: ['docs'],
  queryFn: async ({ signal }) => {
    const response = await fetch('/docs/llms.txt', { signal });
    return response.ok ? parseDocs(await response.text()) : [];
  },
  retry: false,
  staleTime: Infinity,
});

export function useDocsCommands(): Command[] {
  const { data = [] } = useQuery(docsQuery);
  return data.map(({ title, path, about }) => ({
    id: `docs-${path}`,
    label: `Docs: ${title}`,
    detail: about,
    run: () => window.open(`/docs/${path}`, '_blank', 'noreferrer'),
  }));
}
