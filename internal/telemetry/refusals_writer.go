package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Pauses and bounds of a RefusalWriter.
const (
	refusalsEvery    = time.Second
	refusalsAtOnce   = 1_000           // in one statement
	refusalsLastTime = 5 * time.Second // for what waits at a stop
)

// RefusalSource counts refused sign-ins in memory. Its methods must not wait for anything.
type RefusalSource interface {
	// Drain gives what was counted since the last call and has not been given back.
	Drain() []Refusal
	// Return takes back what could not be written.
	Return(list []Refusal)
	// DrainTries and ReturnTries do the same with the sign-ins as routers sent them.
	DrainTries() []Try
	ReturnTries(list []Try)
}

// RefusalWriter makes refused sign-ins durable. Sign-ins never wait for it: they are counted in memory, and what was
// counted in a second is written together. While the database is away the source keeps as much as it has room for.
type RefusalWriter struct {
	store  *Store
	source RefusalSource
	logger *slog.Logger
	loops  *loop.Group
	failed bool // the last try
}

// NewRefusalWriter makes a writer without starting it.
func NewRefusalWriter(store *Store, source RefusalSource, logger *slog.Logger) *RefusalWriter {
	return &RefusalWriter{store: store, source: source, logger: logger, loops: loop.New(logger)}
}

// Start begins to write; it never fails.
func (w *RefusalWriter) Start(ctx context.Context) error {
	return w.loops.Start(ctx, func(context.Context) error {
		w.loops.Go("refused sign-ins", func(ctx context.Context) {
			for loop.Sleep(ctx, refusalsEvery) {
				w.try(ctx)
			}
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), refusalsLastTime)
			defer cancel()
			w.try(last)
		})
		return nil
	})
}

// Stop writes what waits, for a few seconds at most, and ends.
func (w *RefusalWriter) Stop() { w.loops.Stop() }

// try does a round and logs the first failure of several.
func (w *RefusalWriter) try(ctx context.Context) {
	err := w.Round(ctx)
	if err != nil && !w.failed {
		w.logger.WarnContext(ctx, "refused sign-ins are not written", slog.String("error", err.Error()))
	}
	w.failed = err != nil
}

// Round writes what was counted, and gives back what could not be written. It is not safe for concurrent use.
func (w *RefusalWriter) Round(ctx context.Context) error {
	var failed error
	for part := range slices.Chunk(w.source.Drain(), refusalsAtOnce) {
		if failed == nil {
			failed = w.store.SaveRefusals(ctx, part)
		}
		if failed != nil {
			w.source.Return(part)
		}
	}
	for part := range slices.Chunk(w.source.DrainTries(), refusalsAtOnce) {
		if failed == nil {
			failed = w.store.SaveTries(ctx, part)
		}
		if failed != nil {
			w.source.ReturnTries(part)
		}
	}
	return failed
}
