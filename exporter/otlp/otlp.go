package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// defaultShutdownTimeout bounds a shutdown whose context has no deadline.
const defaultShutdownTimeout = 5 * time.Second

// Errors of this package.
var (
	// ErrInvalidEnvironment reports a variable with an unusable value.
	ErrInvalidEnvironment = errors.New("otlp: invalid environment")
	// ErrInvalidOption reports an unusable option or argument.
	ErrInvalidOption = errors.New("otlp: invalid option")
	// ErrSpansLost reports spans that were not delivered before the shutdown ended.
	ErrSpansLost = errors.New("otlp: spans were not delivered")
)

type config struct {
	logger     *slog.Logger
	attributes []attribute.KeyValue
}

// Option configures NewTracerProvider.
type Option func(*config)

// WithLogger sets the logger for spans that cannot be delivered, at most one record per minute. Without it, and with
// nil, nothing is logged.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithAttributes describes the process in addition to its name. OTEL_RESOURCE_ATTRIBUTES wins over them.
func WithAttributes(attributes ...attribute.KeyValue) Option {
	return func(c *config) { c.attributes = append(c.attributes, attributes...) }
}

// NewTracerProvider makes the provider that the environment configures; see the package documentation. If no endpoint
// is set, if OTEL_TRACES_EXPORTER is none or if OTEL_SDK_DISABLED is true, the provider does nothing. An unusable
// value is ErrInvalidEnvironment. NewTracerProvider does not connect: if the collector is down, that is logged later,
// and spans are dropped once the queue is full.
//
// shutdown delivers the spans that have ended and stops everything; spans that end later are dropped. When its
// context ends, or after 5 seconds if that has no deadline, it returns ErrSpansLost with the reason.
// Further calls return the first result. shutdown is never nil if err is nil.
func NewTracerProvider(ctx context.Context, service string, opts ...Option) (
	provider trace.TracerProvider, shutdown func(context.Context) error, err error,
) {
	c := config{logger: slog.New(slog.DiscardHandler)}
	for _, opt := range opts {
		if opt == nil {
			return nil, nil, fmt.Errorf("%w: nil Option", ErrInvalidOption)
		}
		opt(&c)
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	if strings.TrimSpace(service) == "" {
		return nil, nil, fmt.Errorf("%w: the service name is empty", ErrInvalidOption)
	}
	on, err := enabled()
	if err != nil {
		return nil, nil, err
	}
	if !on {
		return noop.NewTracerProvider(), func(context.Context) error { return nil }, nil
	}
	return newPipeline(ctx, service, &c)
}

func newPipeline(ctx context.Context, service string, c *config) (trace.TracerProvider, func(context.Context) error,
	error) {
	if err := checkEnvironment(); err != nil {
		return nil, nil, err
	}
	res, err := newResource(ctx, service, c.attributes)
	if err != nil {
		return nil, nil, err
	}
	exporter, err := newExporter(ctx)
	if err != nil {
		return nil, nil, err
	}
	r := newReporter(exporter, c.logger)
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithBatcher(r))
	var once sync.Once
	var result error
	return provider, func(ctx context.Context) error {
		once.Do(func() { result = r.stop(ctx, provider) })
		return result
	}, nil
}

// newResource lets the environment win over the program's attributes.
func newResource(ctx context.Context, service string, attributes []attribute.KeyValue) (*resource.Resource, error) {
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", service)),
		resource.WithAttributes(attributes...),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("%w: OTEL_RESOURCE_ATTRIBUTES or the host name: %w", ErrInvalidEnvironment, err)
	}
	return res, nil
}

func newExporter(ctx context.Context) (sdktrace.SpanExporter, error) {
	p, err := protocol()
	if err != nil {
		return nil, err
	}
	var client otlptrace.Client
	if p == protocolGRPC {
		client = otlptracegrpc.NewClient()
	} else {
		client = otlptracehttp.NewClient()
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("otlp: %s exporter: %w", p, err)
	}
	return exporter, nil
}
