// Package otlptest is a collector inside a test: it receives spans over OTLP, by HTTP or by gRPC, and keeps them.
//
// It is for lockscope's own packages: users have no need of it.
package otlptest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// maxRequest is beyond what a batch of spans takes.
const maxRequest = 16 << 20

// Receiver keeps what it receives until the test ends. It is safe for concurrent use.
type Receiver struct {
	collector.UnimplementedTraceServiceServer

	// URL is what OTEL_EXPORTER_OTLP_ENDPOINT must be set to.
	URL string

	mu      sync.Mutex
	spans   []Span
	headers []map[string]string
}

// Span is a span and the attributes of the process it came from.
type Span struct {
	*tracepb.Span
	Resource map[string]string
}

// NewHTTP starts a receiver for the protocol http/protobuf at /v1/traces.
func NewHTTP(t testing.TB) *Receiver {
	t.Helper()
	r := new(Receiver)
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.URL = s.URL
	return r
}

// NewGRPC starts a receiver for the protocol grpc.
func NewGRPC(t testing.TB) *Receiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Receiver{URL: "http://" + l.Addr().String()}
	s := grpc.NewServer()
	collector.RegisterTraceServiceServer(s, r)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(l); err != nil {
			t.Errorf("otlptest: %v", err)
		}
	})
	t.Cleanup(func() {
		s.Stop()
		serving.Wait()
	})
	return r
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, maxRequest))
	message := new(collector.ExportTraceServiceRequest)
	if err != nil || req.URL.Path != "/v1/traces" || proto.Unmarshal(body, message) != nil {
		http.Error(w, "not an export of spans", http.StatusBadRequest)
		return
	}
	headers := make(map[string]string)
	for name := range req.Header {
		headers[strings.ToLower(name)] = req.Header.Get(name)
	}
	r.add(message, headers)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Export implements the OTLP service.
func (r *Receiver) Export(ctx context.Context,
	message *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	headers := make(map[string]string)
	incoming, _ := metadata.FromIncomingContext(ctx)
	for name, values := range incoming {
		headers[name] = strings.Join(values, ",")
	}
	r.add(message, headers)
	return new(collector.ExportTraceServiceResponse), nil
}

func (r *Receiver) add(message *collector.ExportTraceServiceRequest, headers map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers = append(r.headers, headers)
	for _, rs := range message.ResourceSpans {
		resource := texts(rs.GetResource().GetAttributes())
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				r.spans = append(r.spans, Span{s, resource})
			}
		}
	}
}

func texts(attributes []*common.KeyValue) map[string]string {
	m := make(map[string]string, len(attributes))
	for _, a := range attributes {
		m[a.Key] = a.GetValue().GetStringValue()
	}
	return m
}

// Spans returns what has been received so far.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Span(nil), r.spans...)
}

// Headers returns the headers of each request, their names in lower case.
func (r *Receiver) Headers() []map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]map[string]string(nil), r.headers...)
}

// Await returns the spans once enough says yes. It fails the test after half a
// minute.
func (r *Receiver) Await(t testing.TB, what string, enough func([]Span) bool) []Span {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		spans := r.Spans()
		if enough(spans) {
			return spans
		}
		if time.Now().After(end) {
			t.Fatalf("timeout waiting until %s; got %d spans", what, len(spans))
		}
	}
}
