package instrument

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/metrics"
)

// measurer is implemented by Locker.
type measurer interface{ measures() *metrics.Metrics }

// register returns new metrics, or those that another decorator has registered before.
func register(r prometheus.Registerer, asked shared) (*metrics.Metrics, error) {
	m := metrics.New(asked.Settings)
	if r == nil {
		return m, nil
	}
	if v := reflect.ValueOf(r); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("%w: WithRegisterer: a nil %T", ErrInvalidOption, r)
	}
	err := r.Register(m)
	var already prometheus.AlreadyRegisteredError
	if !errors.As(err, &already) {
		if err != nil {
			return nil, fmt.Errorf("instrument: register metrics: %w", err)
		}
		return m, nil
	}
	switch known := already.ExistingCollector.(type) {
	case *metrics.Metrics:
		return known, asked.agrees(known.Settings())
	case measurer: // registered by hand
		return known.measures(), asked.agrees(known.measures().Settings())
	default:
		// The registry compares descriptions only: same names, something else.
		return nil, fmt.Errorf("instrument: register metrics: a %T already uses their names: %w", known, err)
	}
}

// agrees refuses options that the registered metrics can no longer have.
func (asked shared) agrees(have metrics.Settings) error {
	for _, o := range []struct {
		given     bool
		name      string
		has, asks any
	}{
		{asked.given&givenMaxResources != 0, "WithMaxResources", have.MaxResources, asked.MaxResources},
		{asked.given&givenIdleResources != 0, "WithIdleResources", have.IdleResources, asked.IdleResources},
		{asked.given&givenWaitObjective != 0, "WithWaitObjective", have.WaitObjective, asked.WaitObjective},
		{asked.given&givenNative != 0, "WithNativeHistograms", have.Native, asked.Native},
	} {
		if o.given && o.has != o.asks {
			return fmt.Errorf("%w: %s: another decorator registered these metrics "+
				"with %v, not %v: give both the same value, or each its own registry",
				ErrInvalidOption, o.name, o.has, o.asks)
		}
	}
	return nil
}
