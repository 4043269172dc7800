import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { clsx } from 'clsx';
import { useRef } from 'react';
import { isTyping } from '../../data/search.ts';
import { SearchField } from '../../ui/form/searchField.tsx';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { Loading } from '../../ui/loading.tsx';
import { useNamePage } from '../../ui/pageTitle.ts';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { CallList } from './callList.tsx';
import { CallView } from './callView.tsx';
import { toDocument, type ApiDocument } from './document.ts';
import type { OpenApi } from './openApi.ts';

const documentQuery = queryOptions({
  queryKey: ['api document'],
  queryFn: async ({ signal }): Promise<ApiDocument> => {
    const response = await fetch('/openapi.json', { signal });
    if (!response.ok) throw new Error(`The service returned HTTP ${response.status}`);
    return toDocument((await response.json()) as OpenApi);
  },
  staleTime: Infinity,
});

/** The API reference: a list of the calls, and one call next to it. */
export function ApiPage() {
  const { call: name, q = '' } = useSearch({ from: '/frame/settings/api' });
  const navigate = useNavigate();
  const document = useQuery(documentQuery);
  const field = useRef<HTMLInputElement>(null);
  const shown = document.data?.calls.find((call) => call.name === name);
  useNamePage(shown === undefined ? 'API reference' : `${shown.name} · API reference`);
  useShortcuts({ '/': () => field.current?.focus() });
  if (document.isError) {
    return (
      <ErrorPanel
        what="Couldn't load the API description"
        error={document.error}
        onRetry={() => void document.refetch()}
      />
    );
  }
  if (document.data === undefined) return <Loading className="p-4" />;
  const onSearch = (value: string): void => {
    const next = value === '' ? undefined : value;
    void navigate({
      to: '/settings/api',
      search: ({ q: _q, ...rest }) => ({ ...rest, ...(next !== undefined && { q: next }) }),
      replace: isTyping(q, value),
    });
  };
  return (
    <div className="flex h-full flex-col">
      <Breadcrumb to="/settings" title="Settings" here="API reference" />
      <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] md:grid-cols-[18rem_minmax(0,1fr)] lg:grid-cols-[22rem_minmax(0,1fr)]">
        <section
          aria-label="Calls"
          className={clsx(
            'flex min-h-0 flex-col border-line md:border-r',
            name !== undefined && 'max-md:hidden',
          )}
        >
          <div className="flex border-b border-line px-4 py-2">
            <SearchField ref={field} label="Filter calls" value={q} onChange={onSearch} />
          </div>
          <CallList document={document.data} text={q} shown={shown?.name} />
        </section>
        <section
          aria-label={shown === undefined ? 'About the API' : shown.name}
          className={clsx('min-h-0 overflow-y-auto', name === undefined && 'max-md:hidden')}
        >
          {name !== undefined && (
            <Link
              to="/settings/api"
              search={q === '' ? {} : { q }}
              className="inline-flex min-h-11 items-center gap-1 px-4 text-12 text-muted md:hidden"
            >
              <ChevronLeft size={14} strokeWidth={1.5} aria-hidden="true" />
              All calls
            </Link>
          )}
          {shown !== undefined && (
            <CallView key={shown.name} call={shown} schemas={document.data.schemas} />
          )}
          {shown === undefined && <About document={document.data} wanted={name} />}
        </section>
      </div>
    </div>
  );
}

function About({ document, wanted }: { document: ApiDocument; wanted: string | undefined }) {
  return (
    <div className="grid max-w-140 gap-3 p-4">
      {wanted !== undefined && (
        <p>
          This service has no call named <span className="data wrap-anywhere">{wanted}</span>. The
          link is for another version.
        </p>
      )}
      <p className="text-muted">
        Select a call to see its fields, scope and errors, and to try it with the permissions of
        your session. Programs send an API key in the <code className="data">x-api-key</code>{' '}
        header.
      </p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-6 gap-y-1">
        <dt>Base URL</dt>
        <dd className="flex min-w-0 items-center gap-1">
          <span className="data truncate">{location.origin}</span>
          <CopyButton text={location.origin} label="Copy base URL" iconOnly />
        </dd>
        <dt>Version</dt>
        <dd className="data">{document.version}</dd>
        <dt>Document</dt>
        <dd>
          <a
            href="/openapi.json"
            className="inline-block min-h-6 text-accent underline underline-offset-2"
          >
            OpenAPI 3.1
          </a>
        </dd>
      </dl>
    </div>
  );
}
