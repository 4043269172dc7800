/**
 * Entry point of the child process that `isolation.ts` starts. Sends the deliveries that it
 * receives, and exits when its parent disconnects.
 */
import { createAddressGuard } from '../destinations/http/guard.ts';
import { createHttp } from '../destinations/http/http.ts';
import {
  type SendJob,
  type IsolatedSetup,
  type SenderReport,
  SETUP_VARIABLE,
} from './isolation.ts';
import { createSender } from './send.ts';

const { allowCidrs, httpsOnly, egressProxy, ...limits } = JSON.parse(
  process.env[SETUP_VARIABLE]!,
) as IsolatedSetup;
let sendJob: SendJob | undefined;
const sender = createSender({
  destinations: [
    createHttp({
      guard: createAddressGuard({ allowCidrs, httpsOnly }),
      egressProxy,
      timeoutMs: limits.timeoutMs,
      clientCertificate: { read: () => sendJob!.clientCertificate },
    }),
  ],
  secret: () => sendJob!.secret,
  region: () => sendJob!.region,
  privateKeys: () => sendJob!.privateKeys,
  ...limits,
});
const report = (message: SenderReport): void => void process.send!(message);

process.on('disconnect', () => process.exit());
// Ignores signals, which are meant for the service; the service lets attempts in flight finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

process.on('message', (received: SendJob) => {
  sendJob = received;
  report('taken');
  void sender.send(received.sending).then(report);
});
report('ready');
