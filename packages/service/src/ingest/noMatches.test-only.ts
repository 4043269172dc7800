import type { Matcher } from './commit.ts';

/** The parts of a matcher without matches and without factories. */
export const NO_MATCHES: Omit<Matcher<object>, 'refresh' | 'needs'> = {
  match: () => ({ matches: [], children: [] }),
  matchAsOf: () => Promise.resolve([]),
  findChildren: () => Promise.resolve([]),
  addLateChildren: (_chain, _children, write) => write(-1),
  loadChildren: () => Promise.resolve(),
  changeChildren() {},
  forgetChildren() {},
};
