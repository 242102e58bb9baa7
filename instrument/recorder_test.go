package instrument_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	noopTrace "go.opentelemetry.io/otel/trace/noop"
)

// spans collects spans that have ended. It stands in for the SDK, so that those who require this module do not require
// the SDK for these tests; the tests of exporter use the SDK.
type spans struct {
	mu    sync.Mutex
	begun uint64
	all   []*span
}

func (s *spans) named(name string) (found []*span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range s.all {
		if span.name == name {
			found = append(found, span)
		}
	}
	return found
}

func (s *spans) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, span := range s.all {
		fmt.Fprintf(&b, "%s %v %s %v %v %v\n", span.name, span.status, span.description, span.attributes,
			span.links, span.events)
	}
	return b.String()
}

// provider records all spans.
func (s *spans) provider() *provider { return &provider{into: s} }

// provider samples a root unless its attributes say drop, and each other span as its parent.
type provider struct {
	embedded.TracerProvider
	into *spans
	drop func(root []attribute.KeyValue) bool
}

func (p *provider) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{provider: p} }

type tracer struct {
	embedded.Tracer
	provider *provider
}

func (t tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	config, parent, s := trace.NewSpanStartConfig(opts...), trace.SpanContextFromContext(ctx), t.provider.into
	sampled := parent.IsSampled()
	if !parent.IsValid() {
		sampled = t.provider.drop == nil || !t.provider.drop(config.Attributes())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	id := trace.SpanContextConfig{TraceID: parent.TraceID(), TraceFlags: trace.TraceFlags(0).WithSampled(sampled)}
	binary.BigEndian.PutUint64(id.SpanID[:], s.begun)
	if !parent.IsValid() {
		binary.BigEndian.PutUint64(id.TraceID[:], s.begun)
	}
	if !sampled {
		ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(id))
		return ctx, trace.SpanFromContext(ctx)
	}
	started := &span{into: s, name: name, kind: trace.ValidateSpanKind(config.SpanKind()), context: trace.NewSpanContext(id), parent: parent,
		attributes: config.Attributes(), links: config.Links()}
	return trace.ContextWithSpan(ctx, started), started
}

// span is recorded, and does not change after its end.
type span struct {
	noopTrace.Span
	into            *spans
	name            string
	kind            trace.SpanKind
	context, parent trace.SpanContext
	attributes      []attribute.KeyValue
	links           []trace.Link
	events          []any
	status          codes.Code
	description     string
	ended           bool
}

func (s *span) SpanContext() trace.SpanContext { return s.context }

func (s *span) IsRecording() (recording bool) {
	s.change(func() { recording = true })
	return recording
}

func (s *span) SetAttributes(more ...attribute.KeyValue) {
	s.change(func() { s.attributes = slices.Concat(s.attributes, more) })
}

func (s *span) AddLink(link trace.Link) {
	s.change(func() { s.links = append(slices.Clip(s.links), link) })
}

func (s *span) AddEvent(name string, opts ...trace.EventOption) {
	config := trace.NewEventConfig(opts...)
	s.change(func() { s.events = append(s.events, name, config.Attributes()) })
}

func (s *span) RecordError(err error, opts ...trace.EventOption) { s.AddEvent(err.Error(), opts...) }

func (s *span) SetStatus(code codes.Code, description string) {
	s.change(func() { s.status, s.description = code, description })
}

func (s *span) End(...trace.SpanEndOption) {
	s.change(func() { s.into.all, s.ended = append(s.into.all, s), true })
}

// change calls f unless the span has ended.
func (s *span) change(f func()) {
	s.into.mu.Lock()
	defer s.into.mu.Unlock()
	if !s.ended {
		f()
	}
}

func attrs(s *span) map[string]string {
	all := make(map[string]string)
	for _, a := range s.attributes {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}
