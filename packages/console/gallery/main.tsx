import './gallery.css';
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import '../src/ui/tips/tips.ts';
import { Gallery } from './gallery.tsx';

// Links need a router, but lead nowhere here.
const router = createRouter({
  routeTree: createRootRoute({ component: Gallery, notFoundComponent: Gallery }),
  history: createMemoryHistory({ initialEntries: ['/'] }),
});

createRoot(document.getElementById('root')!).render(<RouterProvider router={router} />);
