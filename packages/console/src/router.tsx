/** Which page stands at which URL, and what must be true before it shows. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { Frame } from './routes/frame/frame.tsx';
import { PageError } from './routes/frame/pageError.tsx';
import { SignInPage } from './routes/frame/signIn.tsx';
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
} from './search.ts';
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

const welcome = createRoute({
  getParentRoute: () => frame,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./routes/streams/welcome.tsx'), 'WelcomePage'),
});

const newStream = createRoute({
  getParentRoute: () => frame,
  path: '/streams/new',
  validateSearch: parseNewStreamSearch,
  component: lazyRouteComponent(() => import('./routes/newStream/newStream.tsx'), 'NewStreamPage'),
});

const stream = createRoute({
  getParentRoute: () => frame,
  path: '/streams/$streamId',
  validateSearch: parseStreamSearch,
  component: lazyRouteComponent(() => import('./routes/stream/streamPage.tsx'), 'StreamPage'),
});

const deliveries = createRoute({
  getParentRoute: () => frame,
  path: '/deliveries',
  validateSearch: parseDeliveriesSearch,
  component: lazyRouteComponent(
    () => import('./routes/deliveries/deliveries.tsx'),
    'DeliveriesPage',
  ),
});

const delivery = createRoute({
  getParentRoute: () => frame,
  path: '/deliveries/$deliveryId',
  validateSearch: parseDeliverySearch,
  component: lazyRouteComponent(() => import('./routes/delivery/deliveryPage.tsx'), 'DeliveryPage'),
});

const explain = createRoute({
  getParentRoute: () => frame,
  path: '/explain',
  validateSearch: parseExplainSearch,
  component: lazyRouteComponent(() => import('./routes/explain.tsx'), 'ExplainPage'),
});

const inbox = createRoute({
  getParentRoute: () => frame,
  path: '/inbox',
  validateSearch: parseInboxSearch,
  component: lazyRouteComponent(() => import('./routes/inbox/inbox.tsx'), 'InboxPage'),
});

/** One inbox by its name; without a name, the first. */
const namedInbox = createRoute({
  getParentRoute: () => frame,
  path: '/inbox/$name',
  validateSearch: parseInboxSearch,
  component: lazyRouteComponent(() => import('./routes/inbox/inbox.tsx'), 'NamedInboxPage'),
});

const replays = createRoute({
  getParentRoute: () => frame,
  path: '/replays',
  component: lazyRouteComponent(() => import('./routes/replays/replays.tsx'), 'ReplaysPage'),
});

const replay = createRoute({
  getParentRoute: () => frame,
  path: '/replays/$replayId',
  validateSearch: parseReplaySearch,
  component: lazyRouteComponent(() => import('./routes/replays/replayPage.tsx'), 'ReplayPage'),
});

const chains = createRoute({
  getParentRoute: () => frame,
  path: '/chains',
  component: lazyRouteComponent(() => import('./routes/chains.tsx'), 'ChainsPage'),
});

const verify = createRoute({
  getParentRoute: () => frame,
  path: '/verify',
  validateSearch: parseVerifySearch,
  component: lazyRouteComponent(() => import('./routes/verify.tsx'), 'VerifyPage'),
});

const settings = createRoute({
  getParentRoute: () => frame,
  path: '/settings',
  component: lazyRouteComponent(() => import('./routes/settings/settings.tsx'), 'SettingsPage'),
});

const audit = createRoute({
  getParentRoute: () => frame,
  path: '/settings/audit',
  component: lazyRouteComponent(() => import('./routes/settings/audit.tsx'), 'AuditPage'),
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
      ]),
    ]),
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
