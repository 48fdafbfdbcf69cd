package main

import (
	"log/slog"
	"os"

	"github.com/go-logr/logr"
)

// newLogger writes one JSON object a line, or text for a person at a terminal. logr's verbosity counts down in slog's levels.
func newLogger(development bool, verbosity int) logr.Logger {
	options := &slog.HandlerOptions{Level: slog.Level(-min(max(verbosity, 0), 10))}
	if development {
		return logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, options))
	}
	return logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, options))
}
