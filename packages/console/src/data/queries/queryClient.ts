import { isSluiceError } from '@sluice/kit/sluice';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { dropBody } from '../../body/bodyWorker.ts';

/** @param onUnauthorized called when a request is rejected because the session is invalid. */
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
        // Live events keep the cache current; a reconnect refetches if necessary.
        staleTime: Infinity,
        refetchOnWindowFocus: false,
        // The kit already retries what is safe to retry.
        retry: false,
        // A local service is reachable even if the browser is offline.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}
