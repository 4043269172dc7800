import type { ApiKey, IssuedApiKey, Scope } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { keysQuery } from '../../data/queries/access.ts';
import { queryKeys, sluice } from '../../data/queries/service.ts';
import { useNow } from '../../ui/text/clock.ts';
import { linesOf } from '../streamForm/draft/draft.ts';
import { formatDateTime } from '../../ui/text/format.ts';
import { Button } from '../../ui/button.tsx';
import { CallForm } from '../../words/callForm.tsx';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { Dialog, DialogFooter } from '../../ui/dialog.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Check, Select, TextArea, TextField } from '../../ui/form/field.tsx';
import { Status } from '../../ui/status.tsx';
import { Ago } from '../../ui/text/time.tsx';
import { showToast } from '../../ui/toasts.ts';

const SCOPES: Record<Scope, string> = {
  'streams:read': 'read streams and chains, start dry runs',
  'streams:write': 'create, change and delete streams and inboxes',
  'feed:read': 'read feeds, acknowledge their deliveries, move and delete their consumers',
  'history:read': 'read deliveries with their bodies, metrics, replays, backfills and inboxes',
  replay: 'replay deliveries, run backfills',
  'settings:admin': 'manage secrets, keys, nodes, alert URLs and halted chains; read the audit log',
};
const ALL_SCOPES = Object.keys(SCOPES) as Scope[];

/** Lists the API keys and what each one may do. */
export function Keys() {
  const keys = useQuery(keysQuery);
  const [creating, setCreating] = useState(false);
  return (
    <>
      {keys.isError && (
        <ErrorPanel
          what="Couldn't load API keys"
          error={keys.error}
          onRetry={() => void keys.refetch()}
          stale={keys.data !== undefined}
        />
      )}
      {keys.isPending && <p className="animate-late text-faint">Loading</p>}
      {keys.data?.length === 0 && (
        <p className="text-muted">
          No API keys yet, except the one set with --api-key. Create a key for each client, with
          only the scopes that it needs.
        </p>
      )}
      <ul>
        {keys.data?.map((key) => (
          <KeyRow key={key.id} apiKey={key} />
        ))}
      </ul>
      <Button className="mt-2" onClick={() => setCreating(true)}>
        Create key
      </Button>
      {creating && (
        <Dialog title="Create API key" onClose={() => setCreating(false)}>
          <CreateKey />
        </Dialog>
      )}
    </>
  );
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const queryClient = useQueryClient();
  const [asking, setConfirming] = useState(false);
  const { id, name, scopes, cidrs, expiresAt, lastUsedAt, revokedAt } = apiKey;
  const revoke = useMutation({
    mutationFn: () => sluice.revokeApiKey(id),
    onSuccess: async () => {
      setConfirming(false);
      showToast({ text: 'Key revoked' });
      await queryClient.invalidateQueries({ queryKey: queryKeys.keys });
    },
  });
  const now = useNow();
  const expired = expiresAt !== null && expiresAt <= now;
  return (
    <li className="border-b border-line py-2">
      <div className="flex flex-wrap items-center gap-x-4">
        {revokedAt !== null ? (
          <Status condition={{ shape: 'cross', word: 'revoked', tone: 'faint' }} />
        ) : expired ? (
          <Status condition={{ shape: 'cross', word: 'expired', tone: 'faint' }} />
        ) : (
          <Status condition={{ shape: 'disc', word: 'active', tone: 'ok' }} />
        )}
        <span className="min-w-0 truncate font-medium">{name}</span>
        <span className="data text-faint">sluice_{id}_…</span>
        <span className="ml-auto text-12 text-muted">
          {lastUsedAt === null ? (
            'never used'
          ) : (
            <>
              used <Ago timeMs={lastUsedAt} />
            </>
          )}
        </span>
        {revokedAt === null && (
          <Button variant="quiet" aria-label={`Revoke ${name}`} onClick={() => setConfirming(true)}>
            Revoke
          </Button>
        )}
      </div>
      <p className="data break-words text-muted">
        {scopes.length === ALL_SCOPES.length ? 'all scopes' : scopes.join(' ')}
        {cidrs.length > 0 && ` · from ${cidrs.join(' ')}`}
        {expiresAt !== null && ` · expires ${formatDateTime(expiresAt)}`}
      </p>
      {asking && (
        <Dialog title={`Revoke ${name}`} onClose={() => setConfirming(false)}>
          <CallForm
            call={revoke}
            ready
            destructive
            action="Revoke key"
            failed="Couldn't revoke the key"
          >
            <p>
              Clients that use this key, and console sessions opened with it, lose access within 5
              seconds. You can't undo this.
            </p>
          </CallForm>
        </Dialog>
      )}
    </li>
  );
}

const DAY_MS = 86_400_000;
const LIVES = [
  { days: 0, label: 'Never' },
  { days: 30, label: '30 days' },
  { days: 90, label: '90 days' },
  { days: 365, label: '1 year' },
];

function CreateKey() {
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>(['streams:read', 'history:read']);
  const [cidrs, setCidrs] = useState('');
  const [days, setDays] = useState(0);
  const create = useMutation({
    mutationFn: () =>
      sluice.createApiKey({
        name: name.trim(),
        scopes: [...scopes],
        cidrs: linesOf(cidrs),
        ...(days === 0 ? {} : { expiresAt: Date.now() + days * DAY_MS }),
      }),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: queryKeys.keys }),
  });
  if (create.data !== undefined) return <NewKey apiKey={create.data} />;
  const ready = name.trim() !== '' && scopes.length > 0;
  return (
    <CallForm call={create} ready={ready} action="Create key" failed="Couldn't create the key">
      <TextField
        label="Name"
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <fieldset>
        <legend className="mb-1 text-12 text-muted">Scopes</legend>
        {ALL_SCOPES.map((scope) => (
          <Check
            key={scope}
            label={<span className="data">{scope}</span>}
            help={SCOPES[scope]}
            checked={scopes.includes(scope)}
            onChange={(event) =>
              setScopes(
                event.target.checked
                  ? ALL_SCOPES.filter((each) => each === scope || scopes.includes(each))
                  : scopes.filter((each) => each !== scope),
              )
            }
          />
        ))}
      </fieldset>
      <TextArea
        label="Allowed networks"
        rows={2}
        placeholder="10.0.0.0/8"
        help="One per line. Leave empty to allow all."
        value={cidrs}
        onChange={(event) => setCidrs(event.target.value)}
      />
      <label className="grid gap-1 text-12 text-muted">
        Expiration
        <Select value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {LIVES.map((life) => (
            <option key={life.days} value={life.days}>
              {life.label}
            </option>
          ))}
        </Select>
      </label>
    </CallForm>
  );
}

function NewKey({ apiKey }: { apiKey: IssuedApiKey }) {
  return (
    <div className="grid gap-3">
      <p>Copy the key now. The service stores only a hash and can't show the key again.</p>
      <code className="data break-all">{apiKey.key}</code>
      <DialogFooter cancel="Done">
        <CopyButton text={apiKey.key} label="Copy key" />
      </DialogFooter>
    </div>
  );
}
