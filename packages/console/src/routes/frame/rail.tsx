import { Link, useLocation } from '@tanstack/react-router';
import { PAGES, pageOf } from './pages.ts';
import { Mark } from './mark.tsx';

/** Links to the pages: a column on the left, or a row at the bottom of a phone. */
export function Rail() {
  const current = pageOf(useLocation().pathname);
  return (
    <nav
      aria-label="Pages"
      className="flex border-t border-line md:col-start-1 md:row-span-2 md:row-start-1 md:flex-col md:gap-0.5 md:border-t-0 md:border-r md:px-2"
    >
      <span className="hidden h-11 items-center justify-center gap-2 font-semibold md:flex lg:justify-start lg:px-2">
        <Mark className="size-4" />
        <span className="sr-only lg:not-sr-only">Sluice</span>
      </span>
      {PAGES.map(({ to, title, key, Icon }) => (
        <Link
          key={to}
          to={to}
          activeProps={{}}
          activeOptions={{ exact: true }}
          aria-current={to === current.to ? 'page' : undefined}
          title={`${title}  g ${key}`}
          className="flex h-12 min-w-11 flex-1 items-center justify-center gap-2 text-muted hover:text-text aria-[current=page]:text-text md:h-8 md:flex-none md:rounded-control md:hover:bg-raised md:aria-[current=page]:bg-raised md:pointer-coarse:h-11 lg:justify-start lg:px-2"
        >
          <Icon size={16} strokeWidth={1.5} aria-hidden="true" />
          <span className="max-lg:sr-only">{title}</span>
        </Link>
      ))}
    </nav>
  );
}
