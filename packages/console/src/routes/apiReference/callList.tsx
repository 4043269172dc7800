import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ApiCall, ApiDocument } from './document.ts';
import { Method } from './method.tsx';

const matches = (
  { name, method, path, summary, tag }: ApiCall,
  words: readonly string[],
): boolean => {
  const where = `${name} ${method} ${path} ${summary} ${tag}`.toLowerCase();
  return words.every((word) => where.includes(word));
};

/**
 * Lists the calls that match the text, by subject. Each word of the text must occur in the name,
 * method, path, summary or subject of the call.
 */
export function CallList({
  document: { calls, tags },
  text,
  shown,
}: {
  document: ApiDocument;
  text: string;
  /** Name of the shown call; undefined if no call is shown. */
  shown: string | undefined;
}) {
  const current = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (shown !== undefined) current.current?.scrollIntoView({ block: 'nearest' });
  }, [shown]);
  const words = text.toLowerCase().split(/\s+/);
  const found = calls.filter((call) => matches(call, words));
  return (
    <nav aria-label="Calls" className="min-h-0 flex-1 overflow-y-auto pb-4">
      {found.length === 0 && <p className="p-4 text-muted">No calls match this text.</p>}
      {tags
        .map(({ name }) => name)
        .filter((tag) => found.some((call) => call.tag === tag))
        .map((tag) => (
          <section key={tag} aria-label={tag}>
            <h2 className="caps px-4 pt-3 pb-1">{tag}</h2>
            <ul>
              {found
                .filter((call) => call.tag === tag)
                .map(({ name, method, path, summary }) => (
                  <li key={name}>
                    <Link
                      ref={name === shown ? current : undefined}
                      to="/settings/api"
                      search={{ call: name, ...(text !== '' && { q: text }) }}
                      activeProps={{}}
                      aria-current={name === shown ? 'page' : undefined}
                      className="block px-4 py-1.5 hover:bg-raised aria-[current=page]:bg-raised aria-[current=page]:shadow-[inset_2px_0_var(--color-accent)]"
                    >
                      <span className="flex items-baseline gap-2">
                        <Method method={method} />
                        <span className="data min-w-0 wrap-anywhere">{path}</span>
                      </span>
                      <span className="block text-12 text-muted">{summary}</span>
                    </Link>
                  </li>
                ))}
            </ul>
          </section>
        ))}
    </nav>
  );
}
