import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './data/queries/queryClient.ts';
import { watchLoad } from './ui/keys/heldKeys.ts';
import { createConsoleRouter } from './router.tsx';
import { endSession, knownSession, signInFromFragment } from './data/session.ts';

// Runs first, so that the key leaves the address bar at once. Opening a link with a key in a tab
// that already shows the console only fires popstate, so this listener must be added before the
// router's.
signInFromFragment();
addEventListener('popstate', () => {
  if (signInFromFragment()) void router.navigate({ to: '/' });
});

const queryClient = createQueryClient(() => {
  endSession();
  // Runs the route guards again, which redirect to the sign-in page.
  void router.invalidate();
});
const router = createConsoleRouter();
// Queues typed keys while the router loads a page, including the first page.
watchLoad(
  () =>
    router.state.status === 'pending' ||
    router.state.resolvedLocation === undefined ||
    knownSession() === undefined,
);

const container = document.getElementById('root');
if (container === null) throw new Error('index.html has no #root');
createRoot(container).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);

// Not part of the first load. Without it, every control still has its name.
void import('./ui/tips/tips.ts').catch(() => {});
