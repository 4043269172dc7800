/** The routes of the console and their guards. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { buttonClass } from './ui/button.tsx';
import { Frame } from './routes/frame/frame.tsx';
import { PageError } from './routes/frame/pageError.tsx';
import { StreamsPage } from './routes/streams/streams.tsx';
import {
  hrefOf,
  parseAddressSearch,
  parseApiSearch,
  parseDeliveriesSearch,
  parseDeliverySearch,
  parseExplainSearch,
  parseInboxSearch,
  parseNewStreamSearch,
  parseReplaySearch,
  parseSignInSearch,
  parseStreamSearch,
  parseStreamsSearch,
  parseVerifySearch,
} from './data/search.ts';
import { isSignedIn, knownSession } from './data/session.ts';
import { sluice } from './data/queries/service.ts';

/**
 * Loads the code of a page. If that fails, the router reloads the browser page, in case an update
 * renamed the file. If the service is unreachable, throws a different error, which the router shows
 * instead: a reload would only clear the screen.
 */
const served =
  <Module,>(load: () => Promise<Module>) =>
  async (): Promise<Module> => {
    try {
      return await load();
    } catch (error) {
      await sluice.checkSession();
      throw error;
    }
  };

/**
 * Hides the values that `parse` drops. The router would merge them into the search params of the
 * page.
 */
const only =
  <Search extends object>(parse: (input: Record<string, unknown>) => Search) =>
  (input: Record<string, unknown>): Search => {
    const hidden = { ...input };
    for (const key in hidden) hidden[key] = undefined;
    return { ...hidden, ...parse(input) };
  };

const root = createRootRoute();

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: only(parseSignInSearch),
  beforeLoad: async ({ search }) => {
    if (await isSignedIn()) throw redirect({ href: hrefOf(search), replace: true });
  },
  component: lazyRouteComponent(
    served(() => import('./routes/signIn/signIn.tsx')),
    'SignInPage',
  ),
});

const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  // The frame and the code of the page load while the session is checked.
  beforeLoad: ({ location }) => {
    void isSignedIn();
    if (knownSession() !== false) return;
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
  validateSearch: only(parseStreamsSearch),
  component: StreamsPage,
});

const welcome = createRoute({
  getParentRoute: () => frame,
  path: '/welcome',
  component: lazyRouteComponent(
    served(() => import('./routes/streams/welcome.tsx')),
    'WelcomePage',
  ),
});

const newStream = createRoute({
  getParentRoute: () => frame,
  path: '/streams/new',
  validateSearch: only(parseNewStreamSearch),
  component: lazyRouteComponent(
    served(() => import('./routes/newStream/newStream.tsx')),
    'NewStreamPage',
  ),
});

const stream = createRoute({
  getParentRoute: () => frame,
  path: '/streams/$streamId',
  validateSearch: only(parseStreamSearch),
  component: lazyRouteComponent(
    served(() => import('./routes/stream/streamPage.tsx')),
    'StreamPage',
  ),
});

const deliveries = createRoute({
  getParentRoute: () => frame,
  path: '/deliveries',
  validateSearch: only(parseDeliveriesSearch),
  component: lazyRouteComponent(
    served(() => import('./routes/deliveries/deliveries.tsx')),
    'DeliveriesPage',
  ),
});

const delivery = createRoute({
  getParentRoute: () => frame,
  path: '/deliveries/$deliveryId',
  validateSearch: only(parseDeliverySearch),
  component: lazyRouteComponent(
    served(() => import('./routes/delivery/deliveryPage.tsx')),
    'DeliveryPage',
  ),
});

const address = createRoute({
  getParentRoute: () => frame,
  path: '/addresses/$address',
  validateSearch: only(parseAddressSearch),
  component: lazyRouteComponent(
    served(() => import('./routes/address/addressPage.tsx')),
    'AddressPage',
  ),
});

const explain = createRoute({
  getParentRoute: () => frame,
  path: '/explain',
  validateSearch: only(parseExplainSearch),
  component: lazyRouteComponent(
    served(() => import('./routes/explain/explain.tsx')),
    'ExplainPage',
  ),
});

const inbox = createRoute({
  getParentRoute: () => frame,
  path: '/inbox',
  validateSearch: only(parseInboxSearch),
  component: lazyRouteComponent(
    served(() => import('./routes/inbox/inbox.tsx')),
    'InboxPage',
  ),
});

const namedInbox = createRoute({
  getParentRoute: () => frame,
  path: '/inbox/$name',
  validateSearch: only(parseInboxSearch),
  component: lazyRouteComponent(
    served(() => import('./routes/inbox/inbox.tsx')),
    'NamedInboxPage',
  ),
});

const replays = createRoute({
  getParentRoute: () => frame,
  path: '/replays',
  component: lazyRouteComponent(
    served(() => import('./routes/replays/replays.tsx')),
    'ReplaysPage',
  ),
});

const replay = createRoute({
  getParentRoute: () => frame,
  path: '/replays/$replayId',
  validateSearch: only(parseReplaySearch),
  component: lazyRouteComponent(
    served(() => import('./routes/replays/replayPage.tsx')),
    'ReplayPage',
  ),
});

const chains = createRoute({
  getParentRoute: () => frame,
  path: '/chains',
  component: lazyRouteComponent(
    served(() => import('./routes/chains/chains.tsx')),
    'ChainsPage',
  ),
});

const receiver = createRoute({
  getParentRoute: () => frame,
  path: '/receivers/$receiver',
  component: lazyRouteComponent(
    served(() => import('./routes/receiver/receiverPage.tsx')),
    'ReceiverPage',
  ),
});

const verify = createRoute({
  getParentRoute: () => frame,
  path: '/verify',
  validateSearch: only(parseVerifySearch),
  component: lazyRouteComponent(
    served(() => import('./routes/verify/verify.tsx')),
    'VerifyPage',
  ),
});

const settings = createRoute({
  getParentRoute: () => frame,
  path: '/settings',
  component: lazyRouteComponent(
    served(() => import('./routes/settings/settings.tsx')),
    'SettingsPage',
  ),
});

/** The not-found page, inside the frame so that the rail stays usable. */
const nowhere = createRoute({ getParentRoute: () => frame, path: '$', component: PageNotFound });

const audit = createRoute({
  getParentRoute: () => frame,
  path: '/settings/audit',
  component: lazyRouteComponent(
    served(() => import('./routes/settings/audit.tsx')),
    'AuditPage',
  ),
});

const apiReference = createRoute({
  getParentRoute: () => frame,
  path: '/settings/api',
  validateSearch: only(parseApiSearch),
  component: lazyRouteComponent(
    served(() => import('./routes/apiReference/apiPage.tsx')),
    'ApiPage',
  ),
});

/**
 * Returns the search params with which sign-in leads back to this path; empty for the home page.
 */
function backTo(path: string): { back?: string } {
  return path === '/' ? {} : parseSignInSearch({ back: path });
}

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([
      signIn,
      frame.addChildren([
        streams,
        welcome,
        newStream,
        stream,
        deliveries,
        delivery,
        address,
        explain,
        inbox,
        namedInbox,
        replays,
        replay,
        chains,
        receiver,
        verify,
        settings,
        audit,
        apiReference,
        nowhere,
      ]),
    ]),
    basepath: import.meta.env.BASE_URL,
    defaultPreload: 'intent',
    // Preloading a page fetches only its code; pages load their own data.
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: PageError,
  });
}

function PageNotFound() {
  return (
    <div className="p-4">
      <p className="font-medium">Page not found</p>
      <p className="mt-1 text-muted">
        The link is incomplete or for another version of the console.
      </p>
      <Link to="/" className={`${buttonClass('plain')} mt-3`}>
        View all streams
      </Link>
    </div>
  );
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
