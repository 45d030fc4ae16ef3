package accesscases

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// MeterConfig has the parts of a meter. Every field is required.
type MeterConfig struct {
	Bus    *bus.Bus
	Store  *telemetry.Store
	Clock  clock.Clock
	Logger *slog.Logger
}

// Meter hears what subscriptions have used, compares it in memory with their caps, and gives CountTraffic when there is
// something to record. It knows caps and what is recorded from the log, as a model in memory. What it misses while the
// program is down is found when it starts, or by the next report. Safe for concurrent use; two meters of one
// installation do no harm.
type Meter struct {
	cfg    MeterConfig
	loops  *loop.Group
	wake   chan struct{}
	steady clock.Clock // for pauses
	evolve func(access.Usage, events.UsageEvent) access.Usage
	decide func(access.Usage, commands.UsageCommand, time.Time) ([]events.UsageEvent, error)

	mu     sync.Mutex
	lines  map[id.Subscription]*meterLine
	caps   map[id.VoucherBatch]*batchCap // of the batches that have one, until all their vouchers are known
	passed clock.Passed                  // by which vouchers that have ended are forgotten
	zones  map[id.Organization]*time.Location
	left   map[id.Organization]bool   // of which an event cannot be read: nothing of theirs is counted
	wanted map[id.Subscription]bool   // to be counted
	turns  fair.Rota[id.Subscription] // those that are wanted, in the order in which they are counted
	check  bool                       // all caps are to be compared
	aside  map[id.Subscription]*aside // those that failed when they were tried last
	checks aside                      // of the comparison of all caps
}

// meterLine is one subscription that has not ended, or a voucher with a cap that somebody has used.
type meterLine struct {
	subject events.UsageSubject
	cap     events.Cap
	usage   access.Usage // as it is recorded
	ends    time.Time    // of a voucher; zero = a subscription
}

// batchCap is the cap of vouchers that were made together.
type batchCap struct {
	events.Cap
	left int // vouchers that nobody has used or voided
}

// NewMeter makes a meter that knows nobody. It is filled as a model in memory, and started after that.
func NewMeter(cfg MeterConfig) *Meter {
	rules := access.Usages()
	return &Meter{
		cfg: cfg, loops: loop.New(cfg.Logger), wake: make(chan struct{}, 1), steady: clock.Steady(cfg.Clock),
		evolve: rules.Evolve, decide: rules.Decide, lines: map[id.Subscription]*meterLine{},
		caps: map[id.VoucherBatch]*batchCap{}, zones: map[id.Organization]*time.Location{},
		left:   map[id.Organization]bool{},
		wanted: map[id.Subscription]bool{}, check: true, aside: map[id.Subscription]*aside{},
	}
}

// The pauses of a meter that cannot read or write, and of a subscription that it cannot count.
const (
	meterMinPause = time.Second
	meterMaxPause = time.Minute
)

// Start begins to give commands. First it looks for what no command was given for before the program ended.
func (m *Meter) Start(ctx context.Context) error {
	return m.loops.Start(ctx, func(context.Context) error {
		m.loops.Go("usage", m.run)
		return nil
	})
}

// Stop ends it. Totals may be told also after that; nothing follows from them.
func (m *Meter) Stop() { m.loops.Stop() }

// Take hears what some subscriptions have used in one day or month in all. It returns at once.
func (m *Meter) Take(used []telemetry.Used) {
	m.compare(used)
	loop.Wake(m.wake)
}

// compare wants those to be counted whose use there is something to record about.
func (m *Meter) compare(used []telemetry.Used) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range used {
		line := m.lines[u.Subscription]
		if line == nil || line.subject.OrgID != u.Org {
			continue
		}
		if !line.usage.Began || string(u.Step) == line.cap.Period && line.usage.Crosses(line.cap, u.Starts, u.Bytes) {
			m.want(line)
		}
	}
}

// run counts what is wanted, and waits for its pause when the database or the log is away.
func (m *Meter) run(ctx context.Context) {
	pause := loop.Backoff{Min: meterMinPause, Max: meterMaxPause}
	for ctx.Err() == nil {
		if !m.round(ctx) {
			pause.Wait(ctx)
			continue
		}
		pause.Reset()
		if wait, some := m.nextAgain(); some {
			loop.WaitFor(ctx, m.wake, wait)
		} else {
			loop.Wait(ctx, m.wake)
		}
	}
}

// round counts as many as are wanted now, organizations in turn, so that what one uses holds up no other. What fails is
// set aside. It reports false when all have to wait.
func (m *Meter) round(ctx context.Context) bool {
	m.takeBack()
	if !m.checkAll(ctx) {
		return false
	}
	for range m.howMany() {
		line, zone, known := m.next()
		if !known {
			continue
		}
		err := m.count(ctx, line, zone)
		m.tried(line, err)
		if err != nil {
			m.cfg.Logger.WarnContext(ctx, "usage not counted", "subscription_id", line.subject.SubscriptionID.String(),
				"error", err)
		}
		if ctx.Err() != nil || outage(err) {
			return false
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.turns.Empty() {
		loop.Wake(m.wake)
	}
	return true
}

// want marks a subscription to be counted, unless it is set aside, or a voucher whose time is over. The caller holds
// the lock.
func (m *Meter) want(line *meterLine) {
	s := line.subject.SubscriptionID
	if a := m.aside[s]; m.wanted[s] || a != nil && a.waits {
		return
	}
	if line.ends.IsZero() || m.cfg.Clock.Now().Before(line.ends) {
		m.wanted[s] = true
		m.turns.Add(line.subject.OrgID, s)
	}
}

// howMany is how many subscriptions are to be counted.
func (m *Meter) howMany() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.wanted)
}

// next takes the subscription whose turn it is: a copy of what is known about it, and its organization's zone. It is
// false when it has ended.
func (m *Meter) next() (meterLine, *time.Location, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, s, _ := m.turns.Next(nil)
	delete(m.wanted, s)
	line := m.lines[s]
	if line == nil {
		delete(m.aside, s)
		return meterLine{}, nil, false
	}
	return *line, m.zone(line.subject.OrgID), true
}

// count reads the present total of a subscription, and gives the command when it leads to events.
func (m *Meter) count(ctx context.Context, line meterLine, zone *time.Location) error {
	c := commands.CountTraffic{
		Subject: line.subject, Terms: commands.CapTerms{Cap: line.cap, Timezone: zone.String()},
	}
	var err error
	if !line.usage.Began {
		c.FirstSeen, err = m.cfg.Store.FirstSession(ctx, c.Subject.OrgID, c.Subject.SubscriberID,
			c.Subject.SubscriptionID)
		if err != nil {
			return err
		}
	}
	now := m.cfg.Clock.Now()
	if c.Starts, c.Used, err = usedIn(ctx, m.cfg.Store, c.Subject, line.cap.PeriodAt(now, zone)); err != nil {
		return err
	}
	if list, err := m.decide(line.usage, c, now); err != nil || len(list) == 0 {
		return err
	}
	_, err = m.cfg.Bus.Execute(ctx, c, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: c.Subject.OrgID,
		Actor: events.Actor{Kind: events.ActorProcess, ID: "usage"},
	})
	return err
}
