import { type Diagnosis } from '@sluice/kit';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { sluice } from '../../data/queries/service.ts';
import { formatId } from '../../ui/text/format.ts';
import { useCommandKey } from '../../ui/keys/keyboard.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Check, TextArea, TextField } from '../../ui/form/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Status } from '../../ui/status.tsx';
import { linesOf } from '../streamForm/draft/draft.ts';
import { diagnoseRequest, isPublicKey, toHeaders } from './diagnoseRequest.ts';

/**
 * Returns the headers of a delivery for the user to complete. Only the id is known, because the
 * other headers differ for each attempt.
 */
const toGivenHeaders = (deliveryId: string): string =>
  deliveryId === ''
    ? ''
    : [`webhook-id: ${deliveryId}`, 'webhook-timestamp: ', 'webhook-signature: '].join('\n');

const SIGNATURES = ['webhook-signature', 'x-signature'];

type Verdict = { diagnosis: Diagnosis | undefined } | { error: string };

/** Verifies the signature of a webhook, and explains a failure. All input stays in the browser. */
export function VerifyPage() {
  const search = useSearch({ from: '/frame/verify' });
  const body = useQuery({
    queryKey: ['body to verify', search.delivery],
    queryFn: ({ signal }) => sluice.getDeliveryBody(search.delivery ?? '', { signal }),
    enabled: search.delivery !== undefined,
  });
  if (search.delivery !== undefined && body.data === undefined) {
    return body.isError ? (
      <ErrorPanel
        what="Couldn't load the delivery"
        error={body.error}
        onRetry={() => void body.refetch()}
      />
    ) : (
      <Loading className="p-4" />
    );
  }
  const id = search.delivery ?? '';
  return <VerifyForm key={id} deliveryId={id} sentBody={body.data ?? ''} />;
}

function VerifyForm({ deliveryId, sentBody }: { deliveryId: string; sentBody: string }) {
  const [key, setKey] = useState('');
  const [other, setOther] = useState('');
  const [headers, setHeaders] = useState(toGivenHeaders(deliveryId));
  const [body, setBody] = useState(sentBody);
  const [anyTime, setAnyTime] = useState(true);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const resultRef = useRef<HTMLOutputElement>(null);
  // Scrolls to the result, because it is below a form that is longer than most screens.
  useEffect(() => {
    if (verdict !== null) resultRef.current?.scrollIntoView({ block: 'nearest' });
  }, [verdict]);

  const verify = (): void => {
    const given = toHeaders(headers);
    // Without this check, the diagnosis would report a missing signature, although the user has not
    // entered one yet.
    if (deliveryId !== '' && !SIGNATURES.some((name) => name in given)) {
      setVerdict({
        error:
          'Paste webhook-timestamp and webhook-signature from your receiver’s log. Each attempt has its own signature, which Sluice does not store.',
      });
      return;
    }
    if (isPublicKey(key) && !window.isSecureContext) {
      setVerdict({
        error:
          'Browsers verify with public keys only over HTTPS or on localhost. Run sluice verify --public-key instead.',
      });
      return;
    }
    void diagnoseRequest({ key, headers: given, body, anyTime, otherSecrets: linesOf(other) }).then(
      (diagnosis) => setVerdict({ diagnosis }),
      (error: unknown) =>
        setVerdict({ error: error instanceof Error ? error.message : String(error) }),
    );
  };
  useCommandKey('Enter', verify);

  return (
    <form
      noValidate
      aria-label="Verify a signature"
      className="grid max-w-180 gap-4 p-4"
      onSubmit={(event) => {
        event.preventDefault();
        verify();
      }}
    >
      <p className="text-muted">
        Paste the request that your receiver got. It is checked in this browser and not uploaded.
        {deliveryId !== '' && ` The body is from delivery ${formatId(deliveryId)}.`}
      </p>
      {deliveryId === '' && <LoadNewest />}
      <TextField
        label="Secret or public key"
        type={isPublicKey(key) ? 'text' : 'password'}
        mono
        help="The key that your receiver verifies with: the stream’s own secret, the streams secret of the service, or a public key (whpk_…)."
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <TextArea
        label="Headers"
        rows={4}
        placeholder={'webhook-id: …\nwebhook-timestamp: …\nwebhook-signature: v1,…'}
        help="One per line, as your receiver logs them."
        value={headers}
        onChange={(event) => setHeaders(event.target.value)}
      />
      <TextArea
        label="Body"
        rows={8}
        help="The raw body, exactly as received."
        value={body}
        onChange={(event) => setBody(event.target.value)}
      />
      {!isPublicKey(key) && (
        <TextArea
          label="Other secrets to try"
          rows={2}
          help="One per line. The result shows which one matches."
          value={other}
          onChange={(event) => setOther(event.target.value)}
        />
      )}
      <Check
        label="Ignore the timestamp"
        help="Receivers reject webhooks that are too old."
        checked={anyTime}
        onChange={(event) => setAnyTime(event.target.checked)}
      />
      <div>
        <Button type="submit" variant="primary" disabled={key === ''}>
          Verify
          <kbd aria-hidden="true" className="font-mono text-11 pointer-coarse:hidden">
            Ctrl ↵
          </kbd>
        </Button>
      </div>
      <output ref={resultRef} className="block border-t border-line pt-3 empty:hidden">
        {verdict !== null && <VerdictView verdict={verdict} />}
      </output>
    </form>
  );
}

/** Fills in the id and the body of the newest delivery. */
function LoadNewest() {
  const navigate = useNavigate();
  const load = useMutation({
    mutationFn: async () => (await sluice.listDeliveries({ limit: 1 })).result[0]?.id ?? null,
    onSuccess: (delivery) => {
      if (delivery !== null) void navigate({ to: '/verify', search: { delivery } });
    },
  });
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button disabled={load.isPending} onClick={() => load.mutate()}>
        Load last delivery
      </Button>
      {load.data === null && <span className="text-muted">No deliveries yet.</span>}
      {load.isError && <span className="text-bad">{load.error.message}</span>}
    </div>
  );
}

function VerdictView({ verdict }: { verdict: Verdict }) {
  if ('error' in verdict) return <p className="text-bad">{verdict.error}</p>;
  const { diagnosis } = verdict;
  if (diagnosis === undefined) {
    return <Status condition={{ shape: 'disc', word: 'The signature is valid.', tone: 'ok' }} />;
  }
  const { problem, certain, message, fix, secretName } = diagnosis;
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-3">
        <Status condition={{ shape: 'triangle', word: 'Verification failed', tone: 'bad' }} />
        <span className="data text-muted">{problem}</span>
        <span className="text-12 text-faint">{certain ? 'proven' : 'most likely'}</span>
      </p>
      <p className="mt-1">{message}</p>
      {secretName !== undefined && <p className="data break-all">{secretName}</p>}
      <p className="mt-1 text-muted">{fix}</p>
    </>
  );
}
