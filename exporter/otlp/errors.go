package otlp

import (
	"errors"
	"time"
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
