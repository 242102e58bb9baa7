package zaplog

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"syscall"

	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"
)

// The formats of records.
const (
	FormatJSON    = "json"    // one object a line
	FormatConsole = "console" // for people
)

// DefaultLevel is the level without WithLevel.
const DefaultLevel = "info"

// ErrInvalidOption reports an unusable option value. New wraps it.
var ErrInvalidOption = errors.New("zaplog: invalid option")

type config struct {
	level  string
	format string
	caller bool
}

// Option configures New.
type Option func(*config)

// WithLevel drops records below level: debug, info, warn or error, in any case. The text may come from a flag.
func WithLevel(level string) Option { return func(c *config) { c.level = level } }

// WithFormat sets FormatJSON, the default, or FormatConsole. The text may come from a flag.
func WithFormat(format string) Option { return func(c *config) { c.format = format } }

// WithCaller adds the file and line of the logging call.
func WithCaller() Option { return func(c *config) { c.caller = true } }

// New makes a logger that writes to w, one Write per record, one at a time. It returns ErrInvalidOption for an
// unknown level or format and for a nil w.
//
// Records logged with the context of a valid span have trace_id, span_id and trace_flags. Durations are texts like
// "1.5s", and times are RFC 3339 with nanoseconds.
//
// New buffers nothing. flush calls the method Sync of w, if it has one, and may be called at any time and more than
// once.
func New(w io.Writer, opts ...Option) (logger *slog.Logger, flush func() error, err error) {
	c := config{level: DefaultLevel, format: FormatJSON}
	for _, opt := range opts {
		if opt == nil {
			return nil, nil, fmt.Errorf("%w: nil Option", ErrInvalidOption)
		}
		opt(&c)
	}
	if w == nil {
		return nil, nil, fmt.Errorf("%w: the writer is nil", ErrInvalidOption)
	}
	level, err := parseLevel(c.level)
	if err != nil {
		return nil, nil, err
	}
	encoder, err := newEncoder(c.format)
	if err != nil {
		return nil, nil, err
	}
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level)
	handler := zapslog.NewHandler(core, zapslog.WithCaller(c.caller), zapslog.AddStacktraceAt(never))
	return slog.New(WithTraceIDs(handler)), func() error { return synced(core.Sync()) }, nil
}

// never is above every level. By default zapslog takes a stack trace at every error, which costs microseconds, and
// the place that logs a lost lease explains nothing.
const never = slog.Level(math.MaxInt)

func parseLevel(s string) (zapcore.Level, error) {
	switch level := strings.ToLower(s); level {
	case "debug", "info", "warn", "error":
		return zapcore.ParseLevel(level)
	default:
		return 0, fmt.Errorf("%w: level %q: use debug, info, warn or error", ErrInvalidOption, s)
	}
}

func newEncoder(format string) (zapcore.Encoder, error) {
	cfg := zapcore.EncoderConfig{
		TimeKey: slog.TimeKey, LevelKey: slog.LevelKey, MessageKey: slog.MessageKey,
		NameKey: "logger", CallerKey: "caller",
		EncodeTime: zapcore.RFC3339NanoTimeEncoder, EncodeLevel: zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.StringDurationEncoder, EncodeCaller: zapcore.ShortCallerEncoder,
		EncodeName: zapcore.FullNameEncoder,
	}
	switch format {
	case FormatJSON:
		return zapcore.NewJSONEncoder(cfg), nil
	case FormatConsole:
		cfg.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		cfg.EncodeLevel = zapcore.CapitalLevelEncoder
		return zapcore.NewConsoleEncoder(cfg), nil
	default:
		return nil, fmt.Errorf("%w: format %q: use %s or %s", ErrInvalidOption, format, FormatJSON,
			FormatConsole)
	}
}

// synced ignores the errors of what has nothing to sync: a terminal, a pipe, a closed stream.
func synced(err error) error {
	for _, harmless := range []error{syscall.EINVAL, syscall.ENOTTY, syscall.ENOTSUP, syscall.EBADF} {
		if errors.Is(err, harmless) {
			return nil
		}
	}
	return err
}
