import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../../data/queries/service.ts';
import { streamSecretQuery } from '../../../data/queries/streams.ts';
import { Button } from '../../../ui/button.tsx';
import { CallForm } from '../../../words/callForm.tsx';
import { CopyButton } from '../../../ui/text/copyButton.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { Select } from '../../../ui/form/field.tsx';
import { DateTime } from '../../../ui/text/time.tsx';

const HOUR_SECONDS = 3600;
const OVERLAPS = [
  { seconds: 0, label: 'no overlap' },
  { seconds: HOUR_SECONDS, label: '1 hour' },
  { seconds: 24 * HOUR_SECONDS, label: '1 day' },
  { seconds: 7 * 24 * HOUR_SECONDS, label: '1 week' },
];

/** Reveals and rotates the secret that signs this stream's webhooks. */
export function StreamSecretSection({ streamId }: { streamId: string }) {
  const queryClient = useQueryClient();
  const [shown, setShown] = useState(false);
  const [rotating, setRotating] = useState(false);
  const [overlapSeconds, setOverlapSeconds] = useState(24 * HOUR_SECONDS);
  const secret = useQuery({ ...streamSecretQuery(streamId), enabled: shown });
  const rotate = useMutation({
    mutationFn: () => sluice.rotateStreamSecret(streamId, { overlapSeconds }),
    onSuccess: (rotated) => {
      queryClient.setQueryData(streamSecretQuery(streamId).queryKey, rotated);
      setShown(true);
      setRotating(false);
    },
  });
  return (
    <section aria-label="Secret" className="border-t border-line px-4 py-4">
      <h3 className="caps mb-2">Secret</h3>
      <p className="text-muted">Signs the webhook-signature header of this stream’s webhooks.</p>
      {secret.isError && (
        <ErrorPanel
          what="Couldn't load the secret"
          error={secret.error}
          onRetry={() => void secret.refetch()}
        />
      )}
      <div className="mt-2 flex flex-wrap items-center gap-2">
        {shown && secret.data !== undefined ? (
          <>
            <code className="data min-w-0 break-all">{secret.data.secret}</code>
            <CopyButton text={secret.data.secret} label="Copy secret" />
            <Button variant="quiet" onClick={() => setShown(false)}>
              Hide
            </Button>
          </>
        ) : (
          <Button disabled={secret.isFetching} onClick={() => setShown(true)}>
            Reveal secret
          </Button>
        )}
        <Button onClick={() => setRotating(true)}>Rotate…</Button>
      </div>
      {shown &&
        secret.data?.previous.map(({ endsAt }) => (
          <p key={endsAt} className="mt-1 text-12 text-muted">
            The previous secret also signs until <DateTime timeMs={endsAt} />.
          </p>
        ))}
      {rotating && (
        <Dialog title="Rotate the secret" onClose={() => setRotating(false)}>
          <CallForm call={rotate} ready action="Rotate secret" failed="Couldn't rotate the secret">
            <label className="grid gap-1">
              Keep signing with the old secret for
              <Select
                value={overlapSeconds}
                onChange={(event) => setOverlapSeconds(Number(event.target.value))}
              >
                {OVERLAPS.map(({ seconds, label }) => (
                  <option key={seconds} value={seconds}>
                    {label}
                  </option>
                ))}
              </Select>
            </label>
          </CallForm>
        </Dialog>
      )}
    </section>
  );
}
