import { createHttp, type HttpOptions } from '../destinations/http/http.ts';
import { type Sender, type SenderOptions, createSender } from './send.ts';

/** Creates a sender whose only destination is HTTP. */
export const createHttpSender = ({
  secret = () => 'a streams secret',
  region = () => 'us-east-1',
  privateKeys,
  timeoutMs,
  maxTimeoutMs,
  ...http
}: HttpOptions & Partial<Omit<SenderOptions, 'destinations'>>): Sender =>
  createSender({
    destinations: [createHttp({ timeoutMs, ...http })],
    secret,
    region,
    privateKeys,
    timeoutMs,
    maxTimeoutMs,
  });
