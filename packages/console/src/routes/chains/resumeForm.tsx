import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys, sluice } from '../../data/queries/service.ts';
import { formatCount } from '../../ui/text/format.ts';
import type { WatchedChain } from '../../chains/tape.ts';
import { CallForm } from '../../words/callForm.tsx';
import { TextField } from '../../ui/form/field.tsx';

/** The way out of a halt; it leaves a hole behind, so it is asked for. */
export function ResumeForm({ chain, onDone }: { chain: WatchedChain; onDone: () => void }) {
  const queryClient = useQueryClient();
  const [from, setFrom] = useState('');
  const isRight = from === '' || /^\d{1,15}$/.test(from);
  const resume = useMutation({
    mutationFn: () => sluice.resumeChain(chain.id, from === '' ? {} : { from: Number(from) }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.chains });
      onDone();
    },
  });
  return (
    <CallForm
      call={resume}
      ready={isRight}
      action="Resume chain"
      failed="The chain was not resumed"
    >
      <p>
        Blocks between {chain.checkpoint === null ? 'the last one' : formatCount(chain.checkpoint)}{' '}
        and the one you name are left out. Each stream keeps them as a hole, which a backfill fills.
      </p>
      <TextField
        label="From block"
        inputMode="numeric"
        mono
        help="Empty: from the head of the node."
        error={isRight ? undefined : 'A block is a whole number.'}
        value={from}
        onChange={(event) => setFrom(event.target.value)}
      />
    </CallForm>
  );
}
