import { toInboxUrl } from '@sluice/kit/sluice';

/** The default webhook URL of a new stream. */
export const DEFAULT_INBOX_URL = toInboxUrl('default');
