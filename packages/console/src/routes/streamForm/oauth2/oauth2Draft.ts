/** The OAuth 2.0 client credentials in the draft of a stream. */
import type { OAuth2Client, OAuth2Credentials } from '@sluice/kit/contract';

export interface OAuth2Draft {
  tokenUrl: string;
  clientId: string;
  /** Empty to keep the saved secret, which the service does not return. */
  clientSecret: string;
  scope: string;
  audience: string;
  /** The other fields as saved, as JSON; empty if nothing is saved. */
  saved: string;
}

export const NEW_OAUTH2: OAuth2Draft = {
  tokenUrl: '',
  clientId: '',
  clientSecret: '',
  scope: '',
  audience: '',
  saved: '',
};

const toClient = ({ tokenUrl, clientId, scope, audience }: OAuth2Draft): OAuth2Client => ({
  tokenUrl: tokenUrl.trim(),
  clientId: clientId.trim(),
  ...(scope.trim() !== '' && { scope: scope.trim() }),
  ...(audience.trim() !== '' && { audience: audience.trim() }),
});

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

/** Returns the credentials with a word for the secret, to show changes. */
export const describeOAuth2 = ({ clientSecret, ...client }: OAuth2Credentials): object => ({
  ...client,
  'client secret': clientSecret === '' ? 'saved' : 'new',
});
