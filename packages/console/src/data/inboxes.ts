import { toInboxUrl } from '@sluice/kit/sluice';

/** Where a new stream delivers until it is told otherwise. */
export const DEFAULT_INBOX_URL = toInboxUrl('default');
