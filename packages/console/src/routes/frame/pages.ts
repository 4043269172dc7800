/** The pages in the order of the rail. `key` opens a page if it is pressed after `g`. */
import {
  Blocks,
  Fingerprint,
  HelpCircle,
  Inbox,
  ListTree,
  RotateCw,
  Settings,
  Waves,
} from 'lucide-react';

export const PAGES = [
  { to: '/', title: 'Streams', key: 's', Icon: Waves },
  { to: '/deliveries', title: 'Deliveries', key: 'd', Icon: ListTree },
  { to: '/explain', title: 'Explain', key: 'e', Icon: HelpCircle },
  { to: '/inbox', title: 'Inbox', key: 'i', Icon: Inbox },
  { to: '/replays', title: 'Replays', key: 'r', Icon: RotateCw },
  { to: '/chains', title: 'Chains', key: 'c', Icon: Blocks },
  { to: '/verify', title: 'Verify', key: 'v', Icon: Fingerprint },
  { to: '/settings', title: 'Settings', key: 't', Icon: Settings },
] as const;

/** Pages without an entry in the rail, and the page that they belong to. */
const PARENTS: readonly [string, string][] = [['/addresses', '/deliveries']];

/** Returns the page that a path belongs to. Default: Streams, as for the path of a stream. */
export function pageOf(pathname: string): (typeof PAGES)[number] {
  const [, place = pathname] = PARENTS.find(([path]) => pathname.startsWith(path)) ?? [];
  return PAGES.find(({ to }) => to !== '/' && place.startsWith(to)) ?? PAGES[0];
}
