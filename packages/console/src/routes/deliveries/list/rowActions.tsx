import type { DeliverySummary } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { deliveryBodyQuery, deliveryQuery, sendMutation } from '../../../data/queries/delivery.ts';
import { formatClock } from '../../../ui/text/format.ts';
import type { DeliveriesSearch } from '../../../data/search.ts';
import { isolateName } from '../../../words/names.ts';
import { useActions } from '../../../ui/keys/actionList.tsx';
import { copyText } from '../../../ui/text/copyText.ts';
import { copyActions, useCopyKeys, type CopyableParts } from '../../../words/copyKeys.ts';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { toDeliveryCurl } from '../../delivery/body/curl.ts';
import { sendVerb } from '../../../words/condition.ts';

/**
 * Binds the actions of the focused row to their keys, and lists them when `.` is pressed.
 * @returns the list while it is open, and the errors of its actions.
 */
export function useRowActions({
  focused,
  ofList,
  marks,
  onOpen,
  onMark,
  onReplay,
}: {
  focused: () => DeliverySummary | undefined;
  /** Filter of the list, so that the delivery's page steps through the same list. */
  ofList: DeliveriesSearch;
  marks: ReadonlySet<string>;
  onOpen: (id: string) => void;
  onMark: (id: string, through: boolean) => void;
  /** Opens the replay dialog; null if no rows are selected and the filter is empty or a search. */
  onReplay: (() => void) | null;
}): { list: React.ReactNode; problems: React.ReactNode } {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const send = useMutation(sendMutation(queryClient));
  const copyCurl = useMutation({
    mutationFn: async (id: string): Promise<void> => {
      const [{ webhookUrl }, body] = await Promise.all([
        queryClient.fetchQuery(deliveryQuery(id)),
        queryClient.fetchQuery(deliveryBodyQuery(id)),
      ]);
      await copyText(toDeliveryCurl(id, body, webhookUrl), 'curl command');
    },
  });
  const copiesOf = ({ id }: DeliverySummary): CopyableParts => ({
    id,
    link: new URL(`/console/deliveries/${id}`, location.origin).href,
    copyCurl: () => copyCurl.mutate(id),
  });
  useCopyKeys(() => {
    const row = focused();
    return row === undefined ? null : copiesOf(row);
  });
  const list = useActions(() => {
    const row = focused();
    if (row === undefined) return null;
    const params = { deliveryId: row.id };
    return {
      of: `${isolateName(row.tag) || 'Delivery'} ${formatClock(row.createdAt)}`,
      actions: [
        { label: 'Open', keycap: '↵', run: () => onOpen(row.id) },
        {
          label: 'Open as a page',
          run: () => void navigate({ to: '/deliveries/$deliveryId', params, search: ofList }),
        },
        { label: sendVerb(row.state), run: () => send.mutate(row) },
        {
          label: marks.has(row.id) ? 'Deselect' : 'Select',
          keycap: '␣',
          run: () => onMark(row.id, false),
        },
        onReplay !== null && {
          label: marks.size > 0 ? `Replay ${marks.size}…` : 'Replay all matching…',
          keycap: 'r',
          run: onReplay,
        },
        ...copyActions(copiesOf(row)),
        {
          label: 'Explain',
          run: () => void navigate({ to: '/explain', search: { q: row.id } }),
        },
      ],
    };
  });
  const problems = (
    <>
      {send.isError && (
        <ErrorPanel
          what="Couldn't send the delivery"
          error={send.error}
          onRetry={() => send.mutate(send.variables)}
        />
      )}
      {copyCurl.isError && (
        <ErrorPanel
          what="Couldn't copy the curl command"
          error={copyCurl.error}
          onRetry={() => copyCurl.mutate(copyCurl.variables)}
        />
      )}
    </>
  );
  return { list, problems };
}
