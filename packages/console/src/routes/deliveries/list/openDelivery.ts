import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import { startBodyWorker } from '../../../body/bodyWorker.ts';
import { deliveryBodyQuery } from '../../../data/queries/delivery.ts';

/** Stands for the id of a row in the link that is the same for all. */
const ANY_ROW = 'row';

/** How a delivery opens beside the list: at once, and as the link of its row. */
export function useOpenDelivery(): { open: (id: string) => void; hrefOf: (id: string) => string } {
  const navigate = useNavigate();
  // It is there when the first body is asked for.
  useEffect(() => void startBodyWorker(), []);
  const queryClient = useQueryClient();
  const open = useCallback(
    (id: string) => {
      // It comes while the inspector is drawn.
      void queryClient.prefetchQuery(deliveryBodyQuery(id));
      void navigate({ to: '.', search: (now) => ({ ...now, sel: id }) });
    },
    [navigate, queryClient],
  );
  // Made once for all rows: a link of the router's own asks it anew for each.
  const { publicHref: href } = useRouter().buildLocation({
    to: '.',
    search: (now) => ({ ...now, sel: ANY_ROW }),
  });
  return { open, hrefOf: (id) => href.replace(`sel=${ANY_ROW}`, `sel=${id}`) };
}
