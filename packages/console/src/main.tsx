import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './data/queries/queryClient.ts';
import { watchLoad } from './ui/keys/heldKeys.ts';
import { createConsoleRouter } from './router.tsx';
import { endSession, signInFromFragment } from './data/session.ts';

// Runs first, so that the key leaves the address bar. A link opened in a tab that already shows the
// console only fires popstate, which must be handled before the router.
signInFromFragment();
addEventListener('popstate', () => {
  if (signInFromFragment()) void router.navigate({ to: '/' });
});

const queryClient = createQueryClient(() => {
  endSession();
  // Runs the guards again, which redirect to sign-in and back.
  void router.invalidate();
});
const router = createConsoleRouter();
// Covers the time until the first page has loaded.
watchLoad(() => router.state.status === 'pending' || router.state.resolvedLocation === undefined);

const container = document.getElementById('root');
if (container === null) throw new Error('index.html has no #root');
createRoot(container).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
