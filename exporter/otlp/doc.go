// Package otlp sends spans to a collector, as the standard OTEL_ environment
// variables say. Nothing is sent, and nothing runs, unless an endpoint is set.
//
//	provider, shutdown, err := otlp.NewTracerProvider(ctx, "orders", otlp.WithLogger(logger))
//	...
//	defer shutdown(ctx)
//	locker, err := instrument.Wrap(redlock, instrument.WithTracerProvider(provider))
//
// # Variables
//
//	OTEL_EXPORTER_OTLP_ENDPOINT            http://collector:4318; for http/protobuf, /v1/traces is appended
//	OTEL_EXPORTER_OTLP_TRACES_ENDPOINT     wins over it, and is used as it is
//	OTEL_EXPORTER_OTLP_PROTOCOL            http/protobuf (default) or grpc
//	OTEL_EXPORTER_OTLP_HEADERS             key=value,key=value
//	OTEL_EXPORTER_OTLP_TIMEOUT             of one export, in ms (default 10000)
//	OTEL_EXPORTER_OTLP_COMPRESSION         gzip or none (default)
//	OTEL_EXPORTER_OTLP_CERTIFICATE         file of CAs to trust
//	OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE  file; with OTEL_EXPORTER_OTLP_CLIENT_KEY
//	OTEL_EXPORTER_OTLP_INSECURE            true or false; the scheme of the endpoint is the better way
//	OTEL_TRACES_EXPORTER                   otlp (default) or none
//	OTEL_SDK_DISABLED                      true or false (default)
//	OTEL_SERVICE_NAME                      wins over the name given to NewTracerProvider
//	OTEL_RESOURCE_ATTRIBUTES               key=value,key=value
//	OTEL_TRACES_SAMPLER                    parentbased_always_on (default), parentbased_always_off,
//	                                       parentbased_traceidratio, always_on, always_off, traceidratio
//	OTEL_TRACES_SAMPLER_ARG                for the ratio: 0 to 1
//	OTEL_BSP_SCHEDULE_DELAY                ms (default 5000)
//	OTEL_BSP_EXPORT_TIMEOUT                ms (default 30000)
//	OTEL_BSP_MAX_QUEUE_SIZE                spans (default 2048); further ones are dropped
//	OTEL_BSP_MAX_EXPORT_BATCH_SIZE         spans (default 512)
//
// Each variable of OTEL_EXPORTER_OTLP_ has a variant OTEL_EXPORTER_OTLP_TRACES_
// that wins over it. The SDK ignores values it does not understand, or logs them
// where nobody looks; here they are errors, which name the variable, and its value
// unless that may hold a secret.
package otlp
