import type { NumberFieldName } from './plainFields.ts';

/** A field of the form that can have a problem. */
export type DraftField =
  | 'chains'
  | 'addresses'
  | 'factories'
  | 'reads'
  | 'rules'
  | 'triggers'
  | 'balances'
  | 'functions'
  | 'moveEvents'
  | 'webhookUrl'
  | 'tag'
  | NumberFieldName
  | 'retries'
  | 'confirmations'
  | 'headers'
  | 'oauth2';

export type DraftProblems = Partial<Record<DraftField, string>>;
