package jobrunner

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// quietFor is the time during which a message of the library is written once. Without the database River repeats the
// same error several times a second.
const quietFor = time.Minute

// quiet passes warnings and errors only: River logs each of its own steps at lower levels. The same message comes once
// in quietFor; the next line says how many were left out.
type quiet struct {
	slog.Handler
	said *said
}

// said remembers messages. Safe for concurrent use.
type said struct {
	mu       sync.Mutex
	messages map[string]*saying // their number is that of River's texts
}

// saying is one message: when it was written, and how often it was left out since.
type saying struct {
	at      time.Time
	leftOut int
}

// newQuiet makes a logger for River from ours.
func newQuiet(logger *slog.Logger) *slog.Logger {
	return slog.New(quiet{logger.Handler(), &said{messages: map[string]*saying{}}})
}

// Enabled is true from level warning upwards, if the handler below agrees.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// Handle writes a line, unless the same message was written a short while ago.
func (q quiet) Handle(ctx context.Context, line slog.Record) error {
	leftOut, write := q.said.again(line.Message, clock.Steady(clock.System()).Now())
	if !write {
		return nil
	}
	if leftOut > 0 {
		line.AddAttrs(slog.Int("left_out", leftOut))
	}
	return q.Handler.Handle(ctx, line)
}

// again notes that a message comes at an instant. leftOut counts those since the last written one.
func (s *said) again(message string, now time.Time) (leftOut int, write bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.messages[message]
	if known == nil {
		known = &saying{at: now.Add(-quietFor)}
		s.messages[message] = known
	}
	if now.Sub(known.at) < quietFor {
		known.leftOut++
		return 0, false
	}
	leftOut = known.leftOut
	known.at, known.leftOut = now, 0
	return leftOut, true
}

// WithAttrs wraps the result, so that a derived logger is quiet, too.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attrs), q.said}
}

// WithGroup wraps the result for the same reason as WithAttrs.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name), q.said} }
