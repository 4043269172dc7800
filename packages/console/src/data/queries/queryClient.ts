import { isSluiceError } from '@sluice/kit';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { dropBody } from '../../body/bodyWorker.ts';

/** @param onUnauthorized runs for any call that is refused because the session has ended. */
export function createQueryClient(onUnauthorized: () => void): QueryClient {
  const onError = (error: Error): void => {
    if (isSluiceError(error, 'unauthorized')) onUnauthorized();
  };
  const queryCache = new QueryCache({ onError });
  queryCache.subscribe(({ type, query: { queryKey } }) => {
    const [of, id, what] = queryKey;
    if (type === 'removed' && of === 'delivery' && what === 'body') dropBody(id as string);
  });
  return new QueryClient({
    queryCache,
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        // Live events keep what is cached current; a lost connection refetches by itself.
        staleTime: Infinity,
        refetchOnWindowFocus: false,
        // The kit has already repeated what may be repeated.
        retry: false,
        // A service on this machine is reachable while the browser believes itself offline.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}
