import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './data/queries/queryClient.ts';
import { watchLoad } from './ui/keys/heldKeys.ts';
import { createConsoleRouter } from './router.tsx';
import { endSession, signInFromFragment } from './data/session.ts';

// First of all, while the key is still in the address bar. And when the link is opened in a tab
// that shows the console already, which loads nothing: before the router sees the address.
signInFromFragment();
addEventListener('popstate', () => {
  if (signInFromFragment()) void router.navigate({ to: '/' });
});

const queryClient = createQueryClient(() => {
  endSession();
  // Asks again whether the page may show; it leads to sign-in and back.
  void router.invalidate();
});
const router = createConsoleRouter();
// Also until the first page is there.
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
