import { isSluiceError } from '@sluice/kit/sluice';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTabState } from '../frame/pageState.ts';
import { hrefOf } from '../../data/search.ts';
import { lastLinkError, signIn } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Logo } from '../frame/logo.tsx';
import { ThemeSwitch } from '../frame/themeSwitch.tsx';

function problemOf(error: unknown): string {
  if (isSluiceError(error, 'unauthorized'))
    return 'This API key is not valid. Check it, or use another key.';
  return isSluiceError(error) ? `${error.message}. ${error.hint}` : "Couldn't sign in. Try again.";
}

/** Exchanges an API key for a session cookie. The browser does not store the key. */
export function SignInPage() {
  const search = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [apiKey, setApiKey] = useState('');
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(lastLinkError);
  useTabState({ page: 'Sign in' });

  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await signIn(apiKey.trim(), name.trim() || undefined);
      queryClient.clear();
      await navigate({ href: hrefOf(search), replace: true });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };

  return (
    <main className="grid min-h-full place-items-center p-4">
      <form
        className="w-full max-w-88"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div className="mb-6 flex items-center gap-2">
          <Logo className="size-5" />
          <h1 className="text-16 font-semibold">Sluice</h1>
          <span className="data text-faint">{location.host}</span>
          <span className="ml-auto">
            <ThemeSwitch />
          </span>
        </div>
        <label htmlFor="apiKey" className="mb-1 block font-medium">
          API key
        </label>
        <input
          id="apiKey"
          name="apiKey"
          type="password"
          required
          autoComplete="off"
          spellCheck={false}
          aria-describedby="apiKey-help"
          aria-invalid={error !== null}
          value={apiKey}
          onChange={(event) => setApiKey(event.target.value)}
          className="data control h-9 w-full rounded-control border border-line-strong bg-surface px-2.5"
        />
        <p id="apiKey-help" className="mt-1.5 text-12 text-muted">
          Use the key that the service printed on its first start, one set with{' '}
          <code className="whitespace-nowrap">--api-key</code>, or one created in Settings. This
          browser keeps only a session cookie.
        </p>
        <label htmlFor="sessionName" className="mt-4 mb-1 block font-medium">
          Your name <span className="font-normal text-muted">(optional)</span>
        </label>
        <input
          id="sessionName"
          name="sessionName"
          maxLength={60}
          autoComplete="name"
          aria-describedby="sessionName-help"
          value={name}
          onChange={(event) => setName(event.target.value)}
          className="control h-9 w-full rounded-control border border-line-strong bg-surface px-2.5"
        />
        <p id="sessionName-help" className="mt-1.5 text-12 text-muted">
          Shown in the audit log next to the key.
        </p>
        {error !== null && (
          <p role="alert" className="mt-3 text-bad">
            {problemOf(error)}
          </p>
        )}
        <Button type="submit" variant="primary" disabled={busy} className="mt-4 w-full">
          {busy ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
    </main>
  );
}
