import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import { startBodyWorker } from '../../../body/bodyWorker.ts';
import { deliveryBodyQuery } from '../../../data/queries/delivery.ts';

/** Placeholder for the id in the link that all rows share. */
const ANY_ROW = 'row';

/** Returns functions that open a delivery next to the list, and build the links of the rows. */
export function useOpenDelivery(): { open: (id: string) => void; hrefOf: (id: string) => string } {
  const navigate = useNavigate();
  // Starts the worker early, so that it is ready for the first body.
  useEffect(() => void startBodyWorker(), []);
  const queryClient = useQueryClient();
  const open = useCallback(
    (id: string) => {
      // Loads the body while the inspector renders.
      void queryClient.prefetchQuery(deliveryBodyQuery(id));
      void navigate({ to: '.', search: (now) => ({ ...now, sel: id }) });
    },
    [navigate, queryClient],
  );
  // Builds the link once for all rows; a router link would build it for each row.
  const { publicHref: href } = useRouter().buildLocation({
    to: '.',
    search: (now) => ({ ...now, sel: ANY_ROW }),
  });
  return { open, hrefOf: (id) => href.replace(`sel=${ANY_ROW}`, `sel=${id}`) };
}
