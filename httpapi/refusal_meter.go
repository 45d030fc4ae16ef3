package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// RefusalsAMinute is the number of refusals of one user that are recorded in a minute, the last of which counts the
// rest (docs/rules/audit.md#refused-writes).
const RefusalsAMinute = 60

// Times of the meter: the span that is counted, the pause between two looks for counts whose minute is over, and the
// time that the last look of a stopping program may take.
const (
	refusalSpan  = time.Minute
	refusalLook  = 10 * time.Second
	refusalFlush = time.Second
)

// RefusalMeter records the refusals of a user one by one up to a limit, and counts the rest of the minute in one
// record. Counts that are not recorded yet are lost with a program that is killed. Safe for concurrent use.
type RefusalMeter struct {
	to      Refusals
	limiter vault.Limiter
	clock   clock.Clock
	logger  *slog.Logger
	loops   *loop.Group

	mu      sync.Mutex
	pending map[refuser]counted
}

// refuser is a user at one organization, which alone sees the refusal; zero = the platform.
type refuser struct {
	actor string
	org   id.Organization
}

// counted are refusals that were not recorded one by one.
type counted struct {
	last  Refusal // with the count of all
	meta  commands.Meta
	since time.Time
}

// NewRefusalMeter makes a meter before a place where refusals are recorded; it counts the rest until it is started.
func NewRefusalMeter(to Refusals, limiter vault.Limiter, c clock.Clock, logger *slog.Logger) *RefusalMeter {
	return &RefusalMeter{
		to: to, limiter: limiter, clock: c, logger: logger, loops: loop.New(logger), pending: map[refuser]counted{},
	}
}

// Start begins to record counts when their minute is over; it never fails.
func (m *RefusalMeter) Start(ctx context.Context) error {
	return m.loops.Start(ctx, func(context.Context) error {
		m.loops.Go("refusals that were counted", func(ctx context.Context) {
			for loop.SleepFor(ctx, m.clock, refusalLook) {
				m.Flush(ctx, m.clock.Now().Add(-refusalSpan))
			}
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), refusalFlush)
			defer cancel()
			m.Flush(last, m.clock.Now())
		})
		return nil
	})
}

// Stop records all counts and ends.
func (m *RefusalMeter) Stop() { m.loops.Stop() }

// Note records a refusal, or counts it when the user has had too many. When nobody can say how many there were, it is
// counted.
func (m *RefusalMeter) Note(ctx context.Context, r Refusal, meta commands.Meta) error {
	ok, _, err := m.limiter.Allow(ctx, "refusals:"+meta.Actor.ID, RefusalsAMinute-1, refusalSpan)
	if err == nil && ok {
		return m.to.Note(ctx, r, meta)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := refuser{meta.Actor.ID, meta.OrgID}
	before, counts := m.pending[key]
	if !counts {
		before.since = m.clock.Now()
	}
	r.Count += before.last.Count
	m.pending[key] = counted{last: r, meta: meta, since: before.since}
	return nil
}

// Flush records the counts that began at or before an instant. What cannot be recorded is logged and lost, so that a
// log that is away does not fill the memory.
func (m *RefusalMeter) Flush(ctx context.Context, began time.Time) {
	m.mu.Lock()
	var due []counted
	for key, c := range m.pending {
		if !c.since.After(began) {
			due = append(due, c)
			delete(m.pending, key)
		}
	}
	m.mu.Unlock()
	for _, c := range due {
		if err := m.to.Note(ctx, c.last, c.meta); err != nil {
			m.logger.LogAttrs(ctx, slog.LevelError, "refusals not recorded", slog.Int("count", c.last.Count),
				slog.String("error", err.Error()))
		}
	}
}
