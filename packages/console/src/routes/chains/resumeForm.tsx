import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys, sluice } from '../../data/queries/service.ts';
import { formatCount } from '../../ui/text/format.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { CallForm } from '../../words/callForm.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { showToast } from '../../ui/toasts.ts';

/** Resumes a halted chain after a confirmation, because resuming can leave a gap. */
export function ResumeForm({ chain, onDone }: { chain: WatchedChain; onDone: () => void }) {
  const queryClient = useQueryClient();
  const [from, setFrom] = useState('');
  const isRight = from === '' || /^\d{1,15}$/.test(from);
  const resume = useMutation({
    mutationFn: () => sluice.resumeChain(chain.id, from === '' ? {} : { from: Number(from) }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.chains });
      onDone();
      showToast({ text: 'Chain resumed' });
    },
  });
  return (
    <CallForm
      call={resume}
      ready={isRight}
      action="Resume chain"
      failed="Couldn't resume the chain"
    >
      <p>
        {chain.checkpoint === null
          ? 'Blocks before the one you resume from are skipped.'
          : `Blocks after ${formatCount(chain.checkpoint)} and before the one you resume from are skipped. Coverage shows them as a hole, which a backfill can fill.`}
      </p>
      <TextField
        label="From block"
        inputMode="numeric"
        mono
        help="Leave empty to start at the head."
        error={isRight ? undefined : 'Enter a whole number.'}
        value={from}
        onChange={(event) => setFrom(event.target.value)}
      />
    </CallForm>
  );
}
