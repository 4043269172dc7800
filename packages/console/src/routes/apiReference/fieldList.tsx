import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { Schemas } from './openApi.ts';
import { Prose } from './prose.tsx';
import { fieldsOf, limitsOf, resolve, typeOf, type SchemaField } from './schema.ts';

/** Lists fields with their types and limits. The fields of objects are shown on demand. */
export function FieldList({
  fields,
  schemas,
}: {
  fields: readonly SchemaField[];
  schemas: Schemas;
}) {
  return (
    <ul className="border-t border-line">
      {fields.map((field) => (
        <FieldRow key={field.name} field={field} schemas={schemas} />
      ))}
    </ul>
  );
}

function FieldRow({
  field: { name, required, schema },
  schemas,
}: {
  field: SchemaField;
  schemas: Schemas;
}) {
  const [isOpen, setOpen] = useState(false);
  const known = resolve(schema, schemas);
  const limits = limitsOf(schema, schemas);
  const inner = fieldsOf(schema, schemas);
  const description = known.description ?? describedPart(schema, schemas);
  return (
    <li className="border-b border-line py-2">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="data font-medium wrap-anywhere">{name}</span>
        <span className="data text-12 wrap-anywhere text-muted">{typeOf(schema, schemas)}</span>
        {required && <span className="text-12 text-warn">required</span>}
        {known.default !== undefined && (
          <span className="text-12 text-muted">
            default <span className="data wrap-anywhere">{JSON.stringify(known.default)}</span>
          </span>
        )}
      </p>
      {limits.length > 0 && (
        <p className="data text-12 wrap-anywhere text-muted">{limits.join('; ')}</p>
      )}
      {description !== undefined && (
        <p className="text-muted">
          <Prose>{description}</Prose>
        </p>
      )}
      {inner.length > 0 && (
        <>
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
            className="inline-flex min-h-6 items-center gap-1 text-12 text-accent pointer-coarse:min-h-11"
          >
            <ChevronRight
              size={12}
              strokeWidth={1.5}
              aria-hidden="true"
              className={isOpen ? 'rotate-90' : ''}
            />
            Fields of {name}
          </button>
          {isOpen && (
            <div className="mt-1 border-l border-line pl-3">
              <FieldList fields={inner} schemas={schemas} />
            </div>
          )}
        </>
      )}
    </li>
  );
}

/**
 * Returns the description of the first option that has one. A nullable field, for example, is
 * described in one of its options.
 */
const describedPart = (schema: SchemaField['schema'], schemas: Schemas): string | undefined =>
  resolve(schema, schemas)
    .anyOf?.map((option) => resolve(option, schemas).description)
    .find((description) => description !== undefined);
