import { toInboxUrl } from '@sluice/kit/sluice';

/** The default receiver of a new stream. */
export const DEFAULT_INBOX_URL = toInboxUrl('default');
