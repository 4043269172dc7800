import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { chainsQuery } from '../../data/queries/chains.ts';
import { queryKeys } from '../../data/queries/service.ts';
import { createStream, demoDraft } from '../newStream/createStream.ts';

/**
 * Returns the chains, the draft of the demo stream (null without chains), and the mutation that
 * creates the stream and opens its page.
 */
export function useDemoStream() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { data: chains } = useQuery(chainsQuery);
  const draft = demoDraft(chains ?? []);
  const create = useMutation({
    mutationFn: async (): Promise<string> => {
      if (draft === null) throw new Error('No chains yet. Start the service with --chain.');
      return createStream(draft);
    },
    onSuccess: async (id) => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.streams });
      await navigate({ to: '/streams/$streamId', params: { streamId: id } });
    },
  });
  return { chains, draft, create };
}
