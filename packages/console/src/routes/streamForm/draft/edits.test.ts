import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NEW_DRAFT, type StreamDraft } from './draft.ts';
import {
  conflictsOf,
  readEdits,
  toEdits,
  toStored,
  withEdits,
  withoutFields,
  withoutSaved,
} from './edits.ts';

const saved: StreamDraft = { ...NEW_DRAFT, webhookUrl: 'https://a.example', tag: 'a' };

const drafts = fc
  .record({
    webhookUrl: fc.constantFrom('https://a.example', 'https://b.example', ''),
    tag: fc.constantFrom('a', 'b'),
    chains: fc.subarray(['0x1', '0x2']),
    maxInFlight: fc.constantFrom('', '1'),
    strictOrder: fc.boolean(),
  })
  .map((fields): StreamDraft => ({ ...NEW_DRAFT, ...fields }));

test('property: edited fields keep their edits, and all others follow the saved stream', () => {
  fc.assert(
    fc.property(drafts, drafts, drafts, (base, mine, theirs) => {
      const edits = toEdits(base, mine, undefined);
      const merged = withEdits(theirs, edits);
      for (const field of Object.keys(base) as (keyof StreamDraft)[]) {
        const [was, own, other] = [base[field], mine[field], theirs[field]].map((value) =>
          JSON.stringify(value),
        );
        expect(JSON.stringify(merged[field])).toBe(own === was ? other : own);
        const isConflict = own !== was && other !== was && own !== other;
        expect(conflictsOf(theirs, edits).includes(field)).toBe(isConflict);
      }
    }),
  );
});

test('property: edits survive storage', () => {
  fc.assert(
    fc.property(drafts, drafts, drafts, (base, mine, theirs) => {
      const edits = toEdits(base, mine, undefined);
      const stored: unknown = edits && JSON.parse(JSON.stringify(toStored(edits)));
      expect(withEdits(theirs, readEdits(stored, theirs))).toEqual(withEdits(theirs, edits));
    }),
  );
});

test('stored values that are not edits of the stream are ignored', () => {
  for (const stored of [
    undefined,
    null,
    1,
    {},
    { base: saved },
    { base: saved, fields: { tag: 1 } },
    { base: saved, fields: { rules: {} } },
    { base: saved, fields: { unknown: 'a' } },
    { base: { ...saved, family: 'aptos' }, fields: { tag: 'b' } },
  ]) {
    expect(readEdits(stored, saved), JSON.stringify(stored)).toBeUndefined();
  }
});

test('a form without changes, or with an edit that was undone, has no edits', () => {
  const edits = toEdits(saved, { ...saved, tag: 'b' }, undefined);
  expect(edits?.fields).toEqual({ tag: 'b' });
  expect(toEdits(saved, { ...saved }, edits)).toBeUndefined();
});

test('after a save, only edits that were made meanwhile are left', () => {
  const sent = { ...saved, tag: 'b' };
  const edits = toEdits(saved, { ...sent, description: 'later' }, undefined);
  expect(withoutSaved(edits, sent, sent)?.fields).toEqual({ description: 'later' });
  expect(withoutSaved(toEdits(saved, sent, undefined), sent, sent)).toBeUndefined();
});

test('the saved value of a field can replace its edit', () => {
  const edits = toEdits(saved, { ...saved, tag: 'b', description: 'mine' }, undefined)!;
  const theirs = { ...saved, tag: 'c' };
  expect(conflictsOf(theirs, edits)).toEqual(['tag']);
  const left = withoutFields(theirs, edits, ['tag']);
  expect(withEdits(theirs, left)).toMatchObject({ tag: 'c', description: 'mine' });
  expect(conflictsOf(theirs, left)).toEqual([]);
});

test('credentials are not stored', () => {
  const oauth2 = { tokenUrl: '', clientId: 'a', clientSecret: 'secret-1', scope: '' };
  const secrets = {
    headers: 'Authorization: secret-2',
    webhookUrl: 'https://a:secret-3@b.example',
  };
  const typed = { ...saved, oauth2: oauth2 as never, ...secrets, tag: 'kept' };
  const stored = toStored(toEdits(saved, typed, undefined));
  expect(JSON.stringify(stored)).not.toContain('secret-');
  expect(JSON.stringify(toStored(toEdits(typed, { ...typed, tag: 'b' }, undefined)))).not.toContain(
    'secret-',
  );
  expect(readEdits(stored, saved)?.fields).toMatchObject({ tag: 'kept' });
  expect(toStored(toEdits(saved, { ...saved, headers: 'a: b' }, undefined))).toBeUndefined();
});
