package instrument_test

import (
	"context"
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// A wrapped Locker behaves as before, and is measured. The resource label is folded: one metric per order would be too
// many.
func ExampleWrap() {
	engine, err := memlock.New(memlock.NewNodes(1)) // a real program: redlock.Open
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()

	registry := prometheus.NewRegistry() // serve it with promhttp, or with package exporter
	locker, err := instrument.Wrap(engine, instrument.WithRegisterer(registry))
	if err != nil {
		log.Fatal(err)
	}
	for _, order := range []string{"order:1001", "order:1002"} {
		err := lock.Do(context.Background(), locker, order, func(context.Context, lock.Lease) error {
			return nil // charge the order, with the lease's fence
		})
		if err != nil {
			log.Fatal(err)
		}
	}

	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "distributed_lock_wait_seconds" {
			wait := family.GetMetric()[0]
			fmt.Println(family.GetName(), wait.GetLabel()[0].GetValue(), "count", wait.GetHistogram().GetSampleCount())
		}
	}
	// Output:
	// distributed_lock_wait_seconds order:* count 2
}
