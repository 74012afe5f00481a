package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLogger sends etcd's warnings and errors to logger. What etcd would end
// the process with goes to the hook instead.
func newLogger(logger *slog.Logger, hook zapcore.CheckWriteHook) *zap.Logger {
	return zap.New(&slogCore{logger: logger}, zap.WithFatalHook(hook), zap.WithPanicHook(hook))
}

// hushed are parts of warnings and errors of etcd that tell nobody what to do.
var hushed = []string{
	// Tasks that come before the first commit of a database, as our elections
	// take milliseconds and not a second. They are repeated with success.
	"Failed to detect schema version",
	"Failed to detect storage schema version",
	"failed to update storage version",
	"cannot campaign at term",
	// Tasks that Close interrupts.
	"failed to update cluster version",
	"server has stopped; skipping GoAttach",
	// The caller gets the error.
	"failed to apply request",
	"retrying of unary invoker failed",
}

func isHushed(message string) bool {
	return slices.ContainsFunc(hushed, func(part string) bool { return strings.Contains(message, part) })
}

// slogCore is a zapcore.Core that writes to slog.
type slogCore struct{ logger *slog.Logger }

func (c *slogCore) Enabled(level zapcore.Level) bool {
	return level >= zapcore.WarnLevel && c.logger.Enabled(context.Background(), slogLevel(level))
}

func (c *slogCore) With(fields []zapcore.Field) zapcore.Core {
	return &slogCore{logger: c.logger.With(slogArgs(fields)...)}
}

func (c *slogCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) && !isHushed(entry.Message) {
		return checked.AddCore(entry, c)
	}
	return checked
}

func (c *slogCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	c.logger.Log(context.Background(), slogLevel(entry.Level), "etcd: "+entry.Message, slogArgs(fields)...)
	return nil
}

func (c *slogCore) Sync() error { return nil }

func slogLevel(level zapcore.Level) slog.Level {
	if level == zapcore.WarnLevel {
		return slog.LevelWarn
	}
	return slog.LevelError
}

func slogArgs(fields []zapcore.Field) []any {
	encoder := zapcore.NewMapObjectEncoder()
	for _, field := range fields {
		field.AddTo(encoder)
	}
	var args []any
	for key, value := range encoder.Fields {
		args = append(args, slog.Any(key, value))
	}
	return args
}

// faultHook marks the store as failed when a goroutine of etcd logs that it
// can't go on, and ends that goroutine alone.
type faultHook struct {
	dir   string
	state *state
}

// OnWrite implements zapcore.CheckWriteHook.
func (h faultHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	cause := errors.New(entry.Message)
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			cause = fmt.Errorf("%s: %w", entry.Message, err)
		}
	}
	h.state.fail(unwritable(h.dir, cause))
	runtime.Goexit()
}
