// Package zaplog makes loggers for programs: zap behind a *slog.Logger, with the ids of the current trace.
//
//	logger, flush, err := zaplog.New(os.Stderr, zaplog.WithLevel("info"), zaplog.WithFormat("json"))
//	...
//	defer flush()
//	locker, err := instrument.Wrap(redlock, instrument.WithLogger(logger))
//
// The packages of lockscope do not depend on zap: they take any *slog.Logger. A program that already has a zap logger
// needs only:
//
//	slog.New(zaplog.WithTraceIDs(zapslog.NewHandler(zapLogger.Core())))
package zaplog
