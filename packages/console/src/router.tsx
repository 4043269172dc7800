/** Which page stands at which URL, and what must be true before it shows. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { Frame } from './routes/frame.tsx';
import { PageError } from './routes/pageError.tsx';
import { SignInPage } from './routes/signIn.tsx';
import { StreamsPage } from './routes/streams.tsx';
import { hrefOf, parseDeliveriesSearch, parseSignInSearch, parseStreamsSearch } from './search.ts';
import { isSignedIn } from './session.ts';

const root = createRootRoute();

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: parseSignInSearch,
  beforeLoad: async ({ search }) => {
    if (await isSignedIn()) throw redirect({ href: hrefOf(search), replace: true });
  },
  component: SignInPage,
});

const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  beforeLoad: async ({ location }) => {
    if (await isSignedIn()) return;
    throw redirect({
      to: '/sign-in',
      search: backTo(location.pathname + location.searchStr),
      replace: true,
    });
  },
  component: Frame,
});

const streams = createRoute({
  getParentRoute: () => frame,
  path: '/',
  validateSearch: parseStreamsSearch,
  component: StreamsPage,
});

const deliveries = createRoute({
  getParentRoute: () => frame,
  path: '/deliveries',
  validateSearch: parseDeliveriesSearch,
  component: lazyRouteComponent(() => import('./routes/deliveries.tsx'), 'DeliveriesPage'),
});

/** The front page needs no mention in the URL. */
function backTo(path: string): { back?: string } {
  return path === '/' ? {} : parseSignInSearch({ back: path });
}

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([signIn, frame.addChildren([streams, deliveries])]),
    basepath: import.meta.env.BASE_URL,
    defaultPreload: 'intent',
    // Pages load their own data; preloading fetches their code.
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: PageError,
    defaultNotFoundComponent: PageNotFound,
  });
}

function PageNotFound() {
  return <p className="p-4 text-muted">There is no such page.</p>;
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
