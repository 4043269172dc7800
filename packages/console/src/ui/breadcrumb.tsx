import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';

/**
 * Shows a breadcrumb: a link to the parent page and, if `here` is given, the name of the current
 * page.
 */
export function Breadcrumb({
  title,
  here,
  ...link
}: {
  to: '/' | '/deliveries' | '/replays' | '/settings';
  title: string;
  here?: string;
} & Pick<LinkProps, 'search'>) {
  return (
    <nav
      aria-label="Breadcrumb"
      className={`flex min-w-0 items-center gap-2 text-12 ${here === undefined ? '' : 'px-4 pt-2'}`}
    >
      <Link
        {...link}
        className="inline-flex min-h-6 shrink-0 items-center gap-1 text-muted hover:text-text"
      >
        <ChevronLeft size={14} strokeWidth={1.5} aria-hidden="true" />
        {title}
      </Link>
      <span className="text-faint">/</span>
      {here !== undefined && <span className="truncate">{here}</span>}
    </nav>
  );
}
