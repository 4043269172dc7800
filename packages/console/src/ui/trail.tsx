import { Link } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';

/** The way back up, and where one is. */
export function Trail({
  to,
  title,
  here,
}: {
  to: '/' | '/deliveries' | '/settings';
  title: string;
  here: string;
}) {
  return (
    <nav aria-label="Trail" className="flex min-w-0 items-center gap-2 px-4 pt-2 text-12">
      <Link
        to={to}
        className="inline-flex min-h-6 shrink-0 items-center gap-1 text-muted hover:text-text"
      >
        <ChevronLeft size={14} strokeWidth={1.5} aria-hidden="true" />
        {title}
      </Link>
      <span className="text-faint">/</span>
      <span className="truncate">{here}</span>
    </nav>
  );
}
