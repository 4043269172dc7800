/** A webhook route of a Fastify app; other routes still parse JSON. */
import { toFastify } from '@sluice/kit/fastify';
import { fastify } from 'fastify';
import { handler } from './handler.ts';

const app = fastify();
app.register(toFastify(handler, { path: '/webhooks' }));
app.get('/health', () => ({ ok: true }));
await app.listen({ port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' });
