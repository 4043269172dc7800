/**
 * Sets up tracing from the standard OpenTelemetry environment variables. The OpenTelemetry packages
 * are loaded only if a collector is configured.
 */
import { NO_TRACING, type Tracing } from './tracing.ts';

/**
 * @param env `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` turns tracing
 * on, unless `OTEL_SDK_DISABLED=true` or `OTEL_TRACES_EXPORTER=none` turns it off
 */
export async function openTracing(env: NodeJS.ProcessEnv, version: string): Promise<Tracing> {
  const isNamed =
    Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT']) ||
    Boolean(env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
  const isOff = env['OTEL_SDK_DISABLED'] === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (!isNamed || isOff) return NO_TRACING;
  const { createOtlpTracing } = await import('./otlpTracing.ts');
  return createOtlpTracing(env['OTEL_SERVICE_NAME'] ?? 'sluice', version);
}
