package otlp_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/exporter/otlp"
)

// Without an endpoint in the environment the provider does nothing, so a program needs no condition.
func ExampleNewTracerProvider() {
	ctx := context.Background()
	provider, shutdown, err := otlp.NewTracerProvider(ctx, "orders")
	if err != nil {
		log.Fatal(err)
	}
	_, span := provider.Tracer("example").Start(ctx, "charge")
	fmt.Println("recording:", span.IsRecording())
	span.End()
	fmt.Println("shutdown:", shutdown(ctx))
	// Output:
	// recording: false
	// shutdown: <nil>
}
