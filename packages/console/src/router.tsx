/** Which page stands at which URL, and what must be true before it shows. */
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
import { isSignedIn } from './data/session.ts';
import { sluice } from './data/queries/service.ts';

/**
 * A page's code comes from the service. While that does not answer, the page says so: the router would load
 * the tab anew, and with it goes what is on the screen. It does where an update has renamed the code.
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

const root = createRootRoute();

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: parseSignInSearch,
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
  validateSearch: parseNewStreamSearch,
  component: lazyRouteComponent(
    served(() => import('./routes/newStream/newStream.tsx')),
    'NewStreamPage',
  ),
});

const stream = createRoute({
  getParentRoute: () => frame,
  path: '/streams/$streamId',
  validateSearch: parseStreamSearch,
  component: lazyRouteComponent(
    served(() => import('./routes/stream/streamPage.tsx')),
    'StreamPage',
  ),
});

const deliveries = createRoute({
  getParentRoute: () => frame,
  path: '/deliveries',
  validateSearch: parseDeliveriesSearch,
  component: lazyRouteComponent(
    served(() => import('./routes/deliveries/deliveries.tsx')),
    'DeliveriesPage',
  ),
});

const delivery = createRoute({
  getParentRoute: () => frame,
  path: '/deliveries/$deliveryId',
  validateSearch: parseDeliverySearch,
  component: lazyRouteComponent(
    served(() => import('./routes/delivery/deliveryPage.tsx')),
    'DeliveryPage',
  ),
});

const explain = createRoute({
  getParentRoute: () => frame,
  path: '/explain',
  validateSearch: parseExplainSearch,
  component: lazyRouteComponent(
    served(() => import('./routes/explain/explain.tsx')),
    'ExplainPage',
  ),
});

const inbox = createRoute({
  getParentRoute: () => frame,
  path: '/inbox',
  validateSearch: parseInboxSearch,
  component: lazyRouteComponent(
    served(() => import('./routes/inbox/inbox.tsx')),
    'InboxPage',
  ),
});

/** One inbox by its name; without a name, the first. */
const namedInbox = createRoute({
  getParentRoute: () => frame,
  path: '/inbox/$name',
  validateSearch: parseInboxSearch,
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
  validateSearch: parseReplaySearch,
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

const verify = createRoute({
  getParentRoute: () => frame,
  path: '/verify',
  validateSearch: parseVerifySearch,
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

/** With the rail beside it, to go on from. */
const nowhere = createRoute({ getParentRoute: () => frame, path: '$', component: PageNotFound });

const audit = createRoute({
  getParentRoute: () => frame,
  path: '/settings/audit',
  component: lazyRouteComponent(
    served(() => import('./routes/settings/audit.tsx')),
    'AuditPage',
  ),
});

/** The front page needs no mention in the URL. */
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
        explain,
        inbox,
        namedInbox,
        replays,
        replay,
        chains,
        verify,
        settings,
        audit,
        nowhere,
      ]),
    ]),
    basepath: import.meta.env.BASE_URL,
    defaultPreload: 'intent',
    // Pages load their own data; preloading fetches their code.
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: PageError,
  });
}

function PageNotFound() {
  return (
    <div className="p-4">
      <p className="font-medium">There is no such page</p>
      <p className="mt-1 text-muted">The link is cut off, or of another version of the console.</p>
      <Link to="/" className={`${buttonClass('plain')} mt-3`}>
        All streams
      </Link>
    </div>
  );
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
