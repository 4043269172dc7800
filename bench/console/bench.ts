/** The browser and service that each part of the benchmark measures. */
import type { Client } from '@sluice/kit';
import type { Browser, Page } from 'playwright-core';
import type { Front } from './front.ts';

export interface Bench {
  browser: Browser;
  /** Signed in through the front. */
  page: Page;
  front: Front;
  /** Client of the service behind the front. */
  client: Client;
  streamId: string;
}
