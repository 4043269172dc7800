import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../../data/queries/service.ts';
import { streamSecretQuery, streamSecretTimesQuery } from '../../../data/queries/streams.ts';
import { Button } from '../../../ui/button.tsx';
import { CallForm } from '../../../words/callForm.tsx';
import { CopyButton } from '../../../ui/text/copyButton.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { DateTime } from '../../../ui/text/time.tsx';
import { DEFAULT_OVERLAP_SECONDS, OverlapField } from '../../../ui/form/overlapField.tsx';
import { showToast } from '../../../ui/toasts.ts';

/**
 * Reveals and rotates the secret that signs this stream's webhooks, and lists previous secrets that
 * are still used for signing.
 */
export function StreamSecretSection({ streamId }: { streamId: string }) {
  const queryClient = useQueryClient();
  const [shown, setShown] = useState(false);
  const [rotating, setRotating] = useState(false);
  const [overlapSeconds, setOverlapSeconds] = useState(DEFAULT_OVERLAP_SECONDS);
  const secret = useQuery({ ...streamSecretQuery(streamId), enabled: shown });
  const rotate = useMutation({
    mutationFn: () => sluice.rotateStreamSecret(streamId, { overlapSeconds }),
    onSuccess: (rotated) => {
      queryClient.setQueryData(streamSecretQuery(streamId).queryKey, rotated);
      void queryClient.invalidateQueries(streamSecretTimesQuery(streamId));
      setShown(true);
      setRotating(false);
      showToast({ text: 'Secret rotated' });
    },
  });
  return (
    <section aria-label="Secret" className="border-t border-line px-4 py-4">
      <h3 className="caps mb-2">Secret</h3>
      <p className="text-muted">
        This secret signs the webhook-signature header of this stream’s webhooks, as in Standard
        Webhooks. The streams secret in Settings also signs this header for every stream, and signs
        x-signature. To verify webhook-signature, a receiver needs only this secret, or a public key
        of the service.{' '}
        <Link
          to="/settings"
          hash="public-keys"
          className="inline-block py-1 text-accent underline underline-offset-2"
        >
          Public keys
        </Link>
      </p>
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
      <PreviousSecrets streamId={streamId} />
      {rotating && (
        <Dialog title="Rotate the secret" onClose={() => setRotating(false)}>
          <CallForm call={rotate} ready action="Rotate secret" failed="Couldn't rotate the secret">
            <OverlapField
              label="Overlap, during which the old secret also signs"
              seconds={overlapSeconds}
              onChange={setOverlapSeconds}
            />
          </CallForm>
        </Dialog>
      )}
    </section>
  );
}

/**
 * Shows how long previous secrets are still used for signing, and can end their use early. Renders
 * nothing if there are none.
 */
function PreviousSecrets({ streamId }: { streamId: string }) {
  const queryClient = useQueryClient();
  const [ending, setEnding] = useState(false);
  const now = useNow();
  const times = useQuery(streamSecretTimesQuery(streamId));
  const end = useMutation({
    mutationFn: () => sluice.endStreamSecretOverlap(streamId),
    onSuccess: (ended) => {
      queryClient.setQueryData(streamSecretTimesQuery(streamId).queryKey, ended);
      void queryClient.invalidateQueries(streamSecretQuery(streamId));
      setEnding(false);
      showToast({ text: 'Overlap ended' });
    },
  });
  if (times.isError) {
    return (
      <ErrorPanel
        what="Couldn't load the previous secrets"
        error={times.error}
        onRetry={() => void times.refetch()}
      />
    );
  }
  const previous = (times.data?.previous ?? []).filter(({ endsAt }) => endsAt > now);
  if (previous.length === 0) return null;
  return (
    <>
      <ul className="mt-3 text-muted">
        {previous.map(({ createdAt, endsAt }) => (
          <li key={`${createdAt} ${endsAt}`}>
            The secret created at <DateTime timeMs={createdAt} /> also signs until{' '}
            <DateTime timeMs={endsAt} />.
          </li>
        ))}
      </ul>
      <Button className="mt-2" onClick={() => setEnding(true)}>
        End overlap…
      </Button>
      {ending && (
        <Dialog title="End the overlap" onClose={() => setEnding(false)}>
          <CallForm
            call={end}
            ready
            destructive
            action="End overlap now"
            failed="Couldn't end the overlap"
          >
            <p>
              Receivers that still verify with a previous secret will reject webhooks. You can’t
              undo this.
            </p>
          </CallForm>
        </Dialog>
      )}
    </>
  );
}
