/** The login of a connection, by SASL. */
import type * as Client from '@platformatic/kafka';
import type { SaslMechanism } from '@sluice/kit/contract';
import type { Login } from '../login.ts';

/** Iterations of SCRAM that take less than a second. Brokers use 4,096 to 16,384. */
const MAX_ITERATIONS = 1_000_000;

export function toSasl(
  { saslScramSha }: typeof Client,
  { user, password }: Login,
  mechanism: SaslMechanism,
): Client.SASLOptions {
  const login = { mechanism, username: user, password };
  if (mechanism === 'PLAIN') return login;
  const { defaultCrypto } = saslScramSha;
  const crypto: typeof defaultCrypto = {
    ...defaultCrypto,
    hi: (definition, text, salt, iterations) =>
      iterations > MAX_ITERATIONS
        ? Promise.reject(new Error(`the broker requests ${iterations} iterations of SCRAM`))
        : defaultCrypto.hi(definition, text, salt, iterations),
  };
  return {
    ...login,
    authenticate(_mechanism, connection, authenticate, username, given, _token, callback) {
      const algorithm = mechanism === 'SCRAM-SHA-256' ? 'SHA-256' : 'SHA-512';
      saslScramSha.authenticate(
        authenticate,
        connection,
        algorithm,
        username!,
        given!,
        crypto,
        callback,
      );
    },
  };
}
