/**
 * Sets up tracing from the standard OpenTelemetry environment variables. The OpenTelemetry packages
 * are loaded only if a collector is configured.
 */
import { describeError } from './log.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

/**
 * @param env `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` turns tracing
 * on, unless `OTEL_SDK_DISABLED=true` or `OTEL_TRACES_EXPORTER=none` turns it off
 * @throws Error if a collector is configured, but the packages are not installed
 */
export async function openTracing(env: NodeJS.ProcessEnv, version: string): Promise<Tracing> {
  const isNamed =
    Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT']) ||
    Boolean(env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
  const isOff = env['OTEL_SDK_DISABLED'] === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (!isNamed || isOff) return NO_TRACING;
  try {
    const { createOtlpTracing } = await import('./otlpTracing.ts');
    return createOtlpTracing(env['OTEL_SERVICE_NAME'] ?? 'sluice', version);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      `OTEL_EXPORTER_OTLP_ENDPOINT is set, but the tracing packages are not installed. ` +
        `Run npm install @opentelemetry/api @opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/exporter-trace-otlp-http (${describeError(error)})`,
      { cause: error },
    );
  }
}
