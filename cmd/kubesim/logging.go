package main

import (
	"io"
	"log/slog"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// verbosity is the flag -v: 0 for warnings, 1 for what was changed, 2 for
// decisions not to, 4 and more for client-go's own.
type verbosity int

func (v *verbosity) flag(flags *pflag.FlagSet) {
	flags.IntVarP((*int)(v), "verbosity", "v", 0, "log `level`: 0 warnings, 1 changes, 2 decisions")
}

// logger logs to w; client-go's messages go there too.
func (v verbosity) logger(w io.Writer) *slog.Logger {
	level := slog.LevelWarn
	switch {
	case v == 1:
		level = slog.LevelInfo
	case v > 1:
		level = slog.LevelDebug
	}
	logger := slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
	slog.SetDefault(logger)
	klog.SetSlogLogger(logger)
	return logger
}
