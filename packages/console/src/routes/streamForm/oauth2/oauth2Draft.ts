/** The OAuth 2.0 client credentials in the draft of a stream. */
import {
  type OAuth2Client,
  type OAuth2Credentials,
  OAUTH2_FIELDS,
  type StreamFieldView,
} from '@sluice/kit/contract';

export type OAuth2Name = keyof OAuth2Credentials;

export const OAUTH2_NAMES = Object.keys(OAUTH2_FIELDS) as OAuth2Name[];
const ROWS: Readonly<Record<OAuth2Name, StreamFieldView>> = OAUTH2_FIELDS;

/** The credentials as typed. The secret is empty to keep the saved one, which is not returned. */
export interface OAuth2Draft extends Record<OAuth2Name, string> {
  /** The other fields as saved, as JSON; empty if nothing is saved. */
  saved: string;
}

export const NEW_OAUTH2 = {
  ...Object.fromEntries(OAUTH2_NAMES.map((name) => [name, ''])),
  saved: '',
} as OAuth2Draft;

const toClient = (draft: OAuth2Draft): OAuth2Client =>
  Object.fromEntries(
    OAUTH2_NAMES.filter((name) => name !== 'clientSecret')
      .map((name) => [name, draft[name].trim()] as const)
      .filter(([name, value]) => ROWS[name].isRequired || value !== ''),
  ) as unknown as OAuth2Client;

/** Returns the credentials of a draft, with an empty secret if the saved one is kept. */
export const toOAuth2 = (draft: OAuth2Draft | null): OAuth2Credentials | null =>
  draft && { ...toClient(draft), clientSecret: draft.clientSecret };

export function toOAuth2Draft(client: OAuth2Client | null | undefined): OAuth2Draft | null {
  if (client === null || client === undefined) return null;
  const draft = { ...NEW_OAUTH2, ...client };
  return { ...draft, saved: JSON.stringify(toClient(draft)) };
}

export function oauth2Problems(
  draft: OAuth2Draft | null,
): Partial<Record<'tokenUrl' | 'clientId' | 'clientSecret', string>> {
  if (draft === null) return {};
  const isUrl = /^https?:\/\//i.test(draft.tokenUrl) && URL.canParse(draft.tokenUrl);
  const isKept = draft.saved === JSON.stringify(toClient(draft));
  return {
    ...(!isUrl && { tokenUrl: 'Enter a valid URL that starts with http:// or https://.' }),
    ...(draft.clientId.trim() === '' && { clientId: 'Enter a client ID.' }),
    ...(draft.clientSecret === '' &&
      !isKept && {
        clientSecret:
          draft.saved === ''
            ? 'Enter a client secret.'
            : 'Enter the client secret again. It is needed to change the other fields.',
      }),
  };
}

/** Returns the credentials for a list of changes: `saved` or `new` stands for the secret. */
export const describeOAuth2 = ({ clientSecret, ...client }: OAuth2Credentials): object => ({
  ...client,
  'client secret': clientSecret === '' ? 'saved' : 'new',
});
