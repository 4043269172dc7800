import { Link, useLocation } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useRef } from 'react';
import { PAGES, pageOf } from './pages.ts';
import { Logo } from './logo.tsx';
import { ZoneSwitch } from './zoneSwitch.tsx';

/** Number of pages in the bar on a phone; the menu lists the other pages. */
const IN_BAR = 4;

const ITEM =
  'flex min-w-11 items-center justify-center gap-2 text-muted hover:text-text aria-[current=page]:text-text max-md:gap-0.5 md:h-8 md:flex-none md:rounded-control md:hover:bg-raised md:aria-[current=page]:bg-raised md:pointer-coarse:h-11 lg:justify-start lg:px-2';
const IN_BAR_ITEM = 'h-12 flex-1 max-md:flex-col max-md:text-11';

/** Links to the pages: in a column on the left, or on a phone in a row at the bottom. */
export function Rail() {
  const current = pageOf(useLocation().pathname);
  const more = useRef<HTMLDivElement>(null);
  const links = PAGES.map(({ to, title, key, Icon }, index) => (
    <Link
      key={to}
      to={to}
      activeProps={{}}
      activeOptions={{ exact: true }}
      aria-current={to === current.to ? 'page' : undefined}
      data-tip={`${title} (g ${key})`}
      onClick={() => more.current?.hidePopover()}
      className={`${ITEM} ${index < IN_BAR ? IN_BAR_ITEM : 'max-md:h-11 max-md:justify-start max-md:gap-3 max-md:px-4'}`}
    >
      <Icon size={16} strokeWidth={1.5} aria-hidden="true" />
      <span className="md:max-lg:sr-only">{title}</span>
    </Link>
  ));
  return (
    <nav
      aria-label="Pages"
      className="row-start-3 flex border-t border-line md:col-start-1 md:row-span-2 md:row-start-1 md:flex-col md:gap-0.5 md:border-t-0 md:border-r md:px-2"
    >
      <span className="hidden h-11 items-center justify-center gap-2 font-semibold md:flex lg:justify-start lg:px-2">
        <Logo className="size-4" />
        <span className="sr-only lg:not-sr-only">Sluice</span>
      </span>
      {links.slice(0, IN_BAR)}
      <button
        type="button"
        popoverTarget="more-pages"
        aria-current={PAGES.indexOf(current) >= IN_BAR ? 'page' : undefined}
        className={`${ITEM} ${IN_BAR_ITEM} md:hidden`}
      >
        <Ellipsis size={16} strokeWidth={1.5} aria-hidden="true" />
        More
      </button>
      <div
        ref={more}
        id="more-pages"
        popover="auto"
        className="bg-transparent text-text max-md:inset-auto max-md:right-2 max-md:bottom-14 max-md:m-0 max-md:w-48 max-md:rounded-overlay max-md:border max-md:border-line max-md:bg-raised max-md:py-1 max-md:shadow-overlay md:static md:m-0 md:flex md:w-auto md:flex-col md:gap-0.5 md:overflow-visible md:border-0 md:p-0"
      >
        {links.slice(IN_BAR)}
        <ZoneSwitch className="h-11 w-full justify-start px-4 sm:hidden" prefix="Times are in " />
      </div>
    </nav>
  );
}
