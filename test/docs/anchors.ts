import { slugOf } from '../../site/slug.ts';

/**
 * Returns the anchors that GitHub gives the headings on a page, without the numbers that it adds to
 * repeated headings.
 */
export const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading));
