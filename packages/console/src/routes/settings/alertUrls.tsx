import type { AlertUrl } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { alertUrlsQuery, nodeChangesQuery } from '../../data/queries/access.ts';
import { queryKeys, sluice } from '../../data/queries/service.ts';
import { Button } from '../../ui/button.tsx';
import { CallForm } from '../../words/callForm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { UrlForm } from '../../words/urlForm.tsx';
import { showToast } from '../../ui/toasts.ts';

/**
 * Lists the alert URLs and, if the service allows changes, lets the user add URLs and remove added
 * ones.
 */
export function AlertUrls() {
  const urls = useQuery(alertUrlsQuery);
  const { data: canChange } = useQuery(nodeChangesQuery);
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <p className="text-muted">
        The service POSTs an alert to these URLs when a stream, a chain or the service itself has a
        problem, and when it recovers.
        {canChange === false &&
          ' To change the URLs here, start the service with --allow-node-changes.'}
      </p>
      {urls.isError && (
        <ErrorPanel
          what="Couldn't load alert URLs"
          error={urls.error}
          onRetry={() => void urls.refetch()}
          stale={urls.data !== undefined}
        />
      )}
      {urls.isPending && <p className="animate-late text-faint">Loading</p>}
      {urls.data?.length === 0 && <p className="mt-2">No alert URLs yet.</p>}
      <ul className="mt-1">
        {urls.data?.map((url) => (
          <Row key={url.id} url={url} canRemove={canChange === true && url.source === 'added'} />
        ))}
      </ul>
      {canChange === true && (
        <Button className="mt-2" onClick={() => setAdding(true)}>
          Add alert URL
        </Button>
      )}
      {isAdding && <AddAlertUrl onClose={() => setAdding(false)} />}
    </>
  );
}

function Row({ url: { id, host, source }, canRemove }: { url: AlertUrl; canRemove: boolean }) {
  const queryClient = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => sluice.removeAlertUrl(id),
    onSuccess: async () => {
      setAsking(false);
      showToast({ text: 'Alert URL removed' });
      await queryClient.invalidateQueries({ queryKey: queryKeys.alertUrls });
    },
  });
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-4 border-b border-line">
      <span className="data min-w-0 break-all">{host}</span>
      <span className="text-12 text-muted">{source === 'added' ? 'added' : '--notify-url'}</span>
      {canRemove && (
        <Button
          variant="quiet"
          className="ml-auto"
          aria-label={`Remove ${host}`}
          onClick={() => setAsking(true)}
        >
          Remove
        </Button>
      )}
      {isAsking && (
        <Dialog title={`Remove ${host}`} onClose={() => setAsking(false)}>
          <CallForm
            call={remove}
            ready
            destructive
            action="Remove alert URL"
            failed="Couldn't remove the alert URL"
          >
            <p>Alerts are no longer sent to this URL. To undo this, add it again.</p>
          </CallForm>
        </Dialog>
      )}
    </li>
  );
}

function AddAlertUrl({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const [url, setUrl] = useState('');
  return (
    <Dialog title="Add alert URL" onClose={onClose}>
      <UrlForm
        sent={{ url }}
        onUrl={(next) => setUrl(next.trim())}
        ready={url !== ''}
        help="May contain a key. The URL is stored encrypted, and only its host is shown."
        action="Add alert URL"
        failed="Couldn't add the alert URL"
        test={(sent) => sluice.testAlertUrl(sent)}
        add={async (sent) => {
          await sluice.addAlertUrl(sent);
          showToast({ text: 'Alert URL added' });
          await queryClient.invalidateQueries({ queryKey: queryKeys.alertUrls });
          onClose();
        }}
      />
    </Dialog>
  );
}
