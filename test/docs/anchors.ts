import { slugOf } from '../../site/slug.ts';

/** Returns the anchors of the headings on a page, as GitHub names them. */
export const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading));
