// Package billingjobs has the background work of billing: it grants the numbers of documents.
package billingjobs

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

const (
	// maxGranted is how many documents of one series may have a number and wait for their issue. A run of 50,000
	// invoices is numbered in blocks of at most this size, as fast as its invoices are issued, so that what other
	// organizations issue meanwhile never waits behind more than a block of each.
	maxGranted = 64
	// refill is how few of them must be left before the next block, so that blocks do not become small.
	refill = maxGranted / 2
	// issuePatience is how long a granted document counts for maxGranted. One whose issue fails longer than this does
	// not hold up its series.
	issuePatience = time.Minute
	// Pauses after failures, of one series and of all.
	shortestPause, longestPause = 50 * time.Millisecond, 5 * time.Second
)

// steady is the clock of pauses: no rule or person waits for them.
var steady = clock.Steady(clock.System())

// failing is a series that could not be granted numbers.
type failing struct {
	pause loop.Backoff
	until time.Time // it is left alone until then
	away  loop.Outage
}

// Numberer is the one batcher of each series: it gives waiting documents their numbers, in blocks. Several programs may
// run it: a block that was granted by another changes nothing. A crash at any moment loses nothing, because what waits
// is read from the log's read model.
type Numberer struct {
	cfg   Config
	loops *loop.Group
	// Only the loop uses them: the last number granted here that the read model may not show yet, and what fails.
	last    map[id.Series]int64
	failing map[id.Series]*failing
}

// Config has the parts of a Numberer; all are required.
type Config struct {
	Bus    *bus.Bus
	Query  billingviews.NumberingQuery
	Clock  clock.Clock
	Logger *slog.Logger
}

// NewNumberer makes a numberer; Start begins its work.
func NewNumberer(cfg Config) *Numberer {
	return &Numberer{
		cfg: cfg, loops: loop.New(cfg.Logger), last: map[id.Series]int64{}, failing: map[id.Series]*failing{},
	}
}

// Start begins the loop (internal/loop has the contract).
func (n *Numberer) Start(ctx context.Context) error {
	return n.loops.Start(ctx, func(context.Context) error {
		n.loops.Go("numbering", n.run)
		return nil
	})
}

// Stop ends the loop; a block that is being granted is granted whole or not at all.
func (n *Numberer) Stop() { n.loops.Stop() }

// run grants blocks whenever the read model shows documents that wait.
func (n *Numberer) run(ctx context.Context) {
	pause := loop.Backoff{Min: shortestPause, Max: longestPause}
	var away loop.Outage // of the database or the log
	for ctx.Err() == nil {
		err := n.round(ctx)
		if err == nil {
			pause.Reset()
			if away.Ended() {
				n.cfg.Logger.InfoContext(ctx, "numbers are granted again")
			}
			continue
		}
		if ctx.Err() == nil {
			if tell, _ := away.Failed(); tell {
				n.cfg.Logger.WarnContext(ctx, "numbers are not granted", "error", err)
			}
		}
		pause.Wait(ctx)
	}
}

// round waits until documents wait, and grants blocks until none does.
func (n *Numberer) round(ctx context.Context) error {
	some, err := n.cfg.Query.Watch(ctx, func(ctx context.Context) (bool, error) {
		list, err := n.waiting(ctx)
		return len(list) > 0, err
	})
	if some {
		_, err = n.cfg.Query.Until(ctx, func(ctx context.Context) (bool, error) {
			for {
				if granted, more, err := n.Grant(ctx); !granted {
					return !more, err
				}
			}
		})
	}
	return err
}

// waiting lists the series with documents that wait.
func (n *Numberer) waiting(ctx context.Context) ([]billingviews.WaitingSeries, error) {
	list, err := n.cfg.Query.Series(ctx, n.cfg.Clock.Now().Add(-issuePatience), n.cfg.Clock.Now())
	if err != nil {
		return nil, fmt.Errorf("list series: %w", err)
	}
	return list, nil
}

// Grant grants one block: to the series that has the fewest granted documents on their way. It reports whether there
// was one, and whether more documents may wait. A series that fails is tried again after a pause, and holds up no
// other.
func (n *Numberer) Grant(ctx context.Context) (granted, more bool, err error) {
	list, err := n.waiting(ctx)
	if err != nil {
		return false, true, err
	}
	for _, s := range list {
		if s.Granted > refill || s.Last < n.last[s.SeriesID] || n.pauses(s.SeriesID) {
			continue
		}
		granted, err := n.grantBlock(ctx, s)
		if err != nil {
			n.fails(ctx, s, err)
			continue
		}
		n.works(ctx, s)
		if granted {
			return true, true, nil
		}
	}
	return false, len(list) > 0, nil
}

// pauses reports whether a series that failed is left alone.
func (n *Numberer) pauses(series id.Series) bool {
	f := n.failing[series]
	return f != nil && steady.Now().Before(f.until)
}

// fails lets a series pause, and tells of it.
func (n *Numberer) fails(ctx context.Context, s billingviews.WaitingSeries, err error) {
	if ctx.Err() != nil {
		return
	}
	f := n.failing[s.SeriesID]
	if f == nil {
		f = &failing{pause: loop.Backoff{Min: shortestPause, Max: longestPause}}
		n.failing[s.SeriesID] = f
	}
	f.until = steady.Now().Add(f.pause.Next())
	if tell, _ := f.away.Failed(); tell {
		n.cfg.Logger.WarnContext(ctx, "numbers of a series are not granted", "org_id", s.OrgID, "prefix", s.Prefix,
			"error", err)
	}
}

// works ends the pauses of a series.
func (n *Numberer) works(ctx context.Context, s billingviews.WaitingSeries) {
	if n.failing[s.SeriesID] != nil {
		delete(n.failing, s.SeriesID)
		n.cfg.Logger.InfoContext(ctx, "numbers of a series are granted again", "org_id", s.OrgID, "prefix", s.Prefix)
	}
}

// grantBlock grants numbers to the oldest waiting documents of a series. It reports false when another program did.
func (n *Numberer) grantBlock(ctx context.Context, s billingviews.WaitingSeries) (bool, error) {
	list, err := n.cfg.Query.Documents(ctx, s.SeriesID, n.cfg.Clock.Now(), maxGranted-s.Granted)
	if err != nil || len(list) == 0 {
		return false, err
	}
	command := commands.GrantNumbers{
		SeriesID: s.SeriesID, OrgID: s.OrgID, Document: s.Kind, Prefix: s.Prefix, After: list[0].Last,
		Documents: make([]commands.NumberedDocument, len(list)),
	}
	for i, d := range list {
		command.Documents[i] = commands.NumberedDocument{DocumentID: d.DocumentID, SubscriberID: d.SubscriberID}
	}
	done, err := n.cfg.Bus.Execute(ctx, command, commands.Meta{
		// The block is known by the number that it follows; a repeat with the same id acts once.
		CommandID: id.Derive[id.Command]("numbers", s.SeriesID.String(), strconv.FormatInt(command.After, 10)),
		OrgID:     s.OrgID, Actor: events.Actor{Kind: events.ActorProcess, ID: "numbering"},
	})
	if err != nil {
		return false, fmt.Errorf("grant numbers of series %s after %d: %w", s.SeriesID, command.After, err)
	}
	n.last[s.SeriesID] = command.After + 1 // another program's block: wait until the read model shows it
	if done.Changed {
		n.last[s.SeriesID] = command.After + int64(len(list))
	}
	return done.Changed, nil
}
