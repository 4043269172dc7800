/** Reads the lists of pages in the READMEs of `docs`. */

export interface Entry {
  title: string;
  /** File, relative to the folder of the README. */
  path: string;
  /** Description of the page; empty if there is none. */
  about: string;
}

export interface Group {
  /** Empty for a list above the first bold heading. */
  heading: string;
  entries: Entry[];
}

export function readGroups(readme: string): Group[] {
  const groups: Group[] = [{ heading: '', entries: [] }];
  for (const line of readme.split('\n')) {
    const [, heading] = /^\*\*(.+)\*\*$/.exec(line) ?? [];
    if (heading !== undefined) groups.push({ heading, entries: [] });
    const [, title, path, about = ''] =
      /^(?:\d+\.|-) \[([^\]]+)\]\(([^)]+)\)(?:: (.+))?$/.exec(line) ?? [];
    if (title === undefined || path === undefined) continue;
    groups.at(-1)!.entries.push({ title, path, about });
  }
  return groups.filter(({ entries }) => entries.length > 0);
}
