import type { PublicKey } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { publicKeysQuery } from '../../data/queries/access.ts';
import { queryKeys, sluice } from '../../data/queries/service.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { DateTime } from '../../ui/text/time.tsx';
import { CallForm } from '../../words/callForm.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { DEFAULT_OVERLAP_SECONDS, OverlapField } from '../../ui/form/overlapField.tsx';
import { showToast } from '../../ui/toasts.ts';

/** Lists the public keys that verify webhooks; creates and removes key pairs. */
export function PublicKeys() {
  const keys = useQuery(publicKeysQuery);
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <p className="text-muted">
        With a public key, a receiver can verify webhooks but cannot forge them. The private key
        signs the webhooks of every stream, in addition to the secrets. Each key pair adds
        processing time to every delivery.
      </p>
      {keys.isError && (
        <ErrorPanel
          what="Couldn't load public keys"
          error={keys.error}
          onRetry={() => void keys.refetch()}
          stale={keys.data !== undefined}
        />
      )}
      {keys.isPending && <p className="animate-late text-faint">Loading</p>}
      {keys.data?.length === 0 && <p className="mt-2">No key pairs yet.</p>}
      <ul className="mt-1">
        {keys.data?.map((key) => (
          <Row key={key.id} publicKey={key} />
        ))}
      </ul>
      <Button className="mt-2" onClick={() => setCreating(true)}>
        Create key pair…
      </Button>
      {isCreating && (
        <CreateKeyPair hasOlder={keys.data?.length !== 0} onClose={() => setCreating(false)} />
      )}
    </>
  );
}

function Row({ publicKey: { id, publicKey, endsAt } }: { publicKey: PublicKey }) {
  const queryClient = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => sluice.removePublicKey(id),
    onSuccess: async () => {
      setAsking(false);
      showToast({ text: 'Key pair removed' });
      await queryClient.invalidateQueries({ queryKey: queryKeys.publicKeys });
    },
  });
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-4 border-b border-line">
      <code className="data min-w-0 break-all">{publicKey}</code>
      <CopyButton text={publicKey} label="Copy public key" />
      {endsAt !== null && (
        <span className="text-12 text-muted">
          signs until <DateTime timeMs={endsAt} />
        </span>
      )}
      <Button
        variant="quiet"
        className="ml-auto"
        aria-label={`Remove ${publicKey}`}
        onClick={() => setAsking(true)}
      >
        Remove
      </Button>
      {isAsking && (
        <Dialog title="Remove key pair" onClose={() => setAsking(false)}>
          <CallForm
            call={remove}
            ready
            destructive
            action="Remove key pair"
            failed="Couldn't remove the key pair"
          >
            <p>
              Receivers that verify with this public key will reject webhooks. You can’t undo this.
            </p>
          </CallForm>
        </Dialog>
      )}
    </li>
  );
}

function CreateKeyPair({ hasOlder, onClose }: { hasOlder: boolean; onClose: () => void }) {
  const queryClient = useQueryClient();
  const [overlapSeconds, setOverlapSeconds] = useState(DEFAULT_OVERLAP_SECONDS);
  const create = useMutation({
    mutationFn: () => sluice.createPublicKey({ overlapSeconds }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.publicKeys });
      onClose();
      showToast({ text: 'Key pair created' });
    },
  });
  return (
    <Dialog title="Create key pair" onClose={onClose}>
      <CallForm call={create} ready action="Create key pair" failed="Couldn't create the key pair">
        {hasOlder ? (
          <OverlapField
            label="Overlap, during which the old key pairs also sign"
            seconds={overlapSeconds}
            onChange={setOverlapSeconds}
          />
        ) : (
          <p>The private key stays in the service, encrypted.</p>
        )}
      </CallForm>
    </Dialog>
  );
}
