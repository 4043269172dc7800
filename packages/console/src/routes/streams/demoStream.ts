import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { chainsQuery } from '../../data/queries/chains.ts';
import { queryKeys } from '../../data/queries/service.ts';
import { createStream, demoDraft } from '../newStream/createStream.ts';

/** Returns the demo stream, and the mutation that creates it and opens its page. */
export function useDemoStream() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { data: chains } = useQuery(chainsQuery);
  const draft = demoDraft(chains ?? []);
  const create = useMutation({
    mutationFn: async (): Promise<string> => {
      if (draft === null) throw new Error('No chains yet');
      return createStream(draft);
    },
    onSuccess: async (id) => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.streams });
      await navigate({ to: '/streams/$streamId', params: { streamId: id } });
    },
  });
  return { chains, draft, create };
}
