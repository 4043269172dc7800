import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import type { ApiCall } from './document.ts';
import type { Schemas } from './openApi.ts';
import { FieldList } from './fieldList.tsx';
import { Method } from './method.tsx';
import { Prose } from './prose.tsx';
import { fieldsOf, typeOf, type SchemaField } from './schema.ts';
import { TryIt } from './tryIt.tsx';

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="border-t border-line px-4 py-3">
      <h3 className="caps mb-2">{title}</h3>
      {children}
    </section>
  );
}

/** Words for `open` and `any`; other scopes are shown by name. */
const SCOPE_WORDS: Readonly<Record<string, string>> = {
  open: 'No key needed',
  any: 'Any valid key',
};

/** Shows one call: what it does, who may call it, its fields and errors, and a form to try it. */
export function CallView({ call, schemas }: { call: ApiCall; schemas: Schemas }) {
  const { name, method, path, summary, description, scope, parameters, body, response, errors } =
    call;
  const [isTrying, setTrying] = useState(false);
  const parametersIn = (where: 'path' | 'query'): SchemaField[] =>
    parameters.filter((each) => each.in === where);
  return (
    <article className="max-w-200">
      <header className="grid gap-1 px-4 py-3">
        <h2 className="text-14 font-semibold">{summary}</h2>
        <p className="flex items-center gap-1">
          <Method method={method} />
          <span className="data min-w-0 wrap-anywhere">{path}</span>
          <CopyButton text={location.href} label="Copy link to this call" icon="link" iconOnly />
        </p>
        {description !== '' && (
          <p className="text-muted">
            <Prose>{description}</Prose>
          </p>
        )}
        <dl className="flex flex-wrap gap-x-6 text-12">
          <div className="flex gap-2">
            <dt className="text-muted">Name</dt>
            <dd className="data wrap-anywhere">{name}</dd>
          </div>
          <div className="flex gap-2">
            <dt className="text-muted">Scope</dt>
            <dd className="data">{SCOPE_WORDS[scope] ?? scope}</dd>
          </div>
        </dl>
      </header>
      <section aria-label="Try it" className="px-4 pb-3">
        <Button aria-expanded={isTrying} onClick={() => setTrying(!isTrying)}>
          Try it
        </Button>
        {isTrying && <TryIt call={call} schemas={schemas} />}
      </section>
      {(['path', 'query'] as const)
        .filter((where) => parametersIn(where).length > 0)
        .map((where) => (
          <Section key={where} title={where === 'path' ? 'Path parameters' : 'Query parameters'}>
            <FieldList fields={parametersIn(where)} schemas={schemas} />
          </Section>
        ))}
      {body !== undefined && (
        <Section title={body.required ? 'Request body' : 'Request body, optional'}>
          <SchemaFields schema={body.schema} schemas={schemas} />
        </Section>
      )}
      <Section title={`Response ${response.status}`}>
        {response.schema === undefined ? (
          <p className="text-muted">The response has no body.</p>
        ) : (
          <>
            {response.mediaType !== 'application/json' && (
              <p className="data mb-2 text-muted">{response.mediaType}</p>
            )}
            <SchemaFields schema={response.schema} schemas={schemas} />
          </>
        )}
      </Section>
      <Section title="Errors">
        {errors.length === 0 ? (
          <p className="text-muted">None.</p>
        ) : (
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
            {errors.map(({ status, description: reason }) => (
              <div key={status} className="contents">
                <dt className="data font-medium">{status}</dt>
                <dd className="text-muted">
                  <Prose>{reason}</Prose>
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Section>
    </article>
  );
}

function SchemaFields({ schema, schemas }: { schema: SchemaField['schema']; schemas: Schemas }) {
  const fields = fieldsOf(schema, schemas);
  const type = typeOf(schema, schemas);
  return (
    <>
      {type !== 'object' && <p className="data mb-1 text-12 wrap-anywhere text-muted">{type}</p>}
      {fields.length > 0 && <FieldList fields={fields} schemas={schemas} />}
    </>
  );
}
