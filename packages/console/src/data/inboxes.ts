import { toInboxUrl } from '@sluice/kit/contract';

/** The default webhook URL of a new stream. */
export const DEFAULT_INBOX_URL = toInboxUrl('default');
