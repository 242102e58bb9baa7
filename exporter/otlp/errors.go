package otlp

import (
	"errors"
	"time"
)

// DefaultShutdownTimeout bounds a shutdown whose context has no deadline.
const DefaultShutdownTimeout = 5 * time.Second

// Errors of this package.
var (
	// ErrInvalidEnvironment says that a variable has a value that cannot be used.
	ErrInvalidEnvironment = errors.New("otlp: invalid environment")
	// ErrInvalidOption says that an option or argument is not usable.
	ErrInvalidOption = errors.New("otlp: invalid option")
	// ErrSpansLost says that spans were not delivered before the shutdown ended.
	ErrSpansLost = errors.New("otlp: spans were not delivered")
)
