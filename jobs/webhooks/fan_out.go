package webhooksjobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// fanPage is how many messages are read at once.
const fanPage = 1000

// fanOut makes deliveries of the messages of the outbox, in the order of the log, until ctx ends.
func (d *Deliverer) fanOut(ctx context.Context) {
	pause := loop.Backoff{Min: 50 * time.Millisecond, Max: 5 * time.Second}
	f := fan{Deliverer: d}
	for ctx.Err() == nil {
		_, err := d.cfg.Views.Watch(ctx, outbox.Name, f.page)
		if err == nil {
			pause.Reset()
			continue
		}
		if f.known = false; !errors.Is(err, errOvertaken) {
			d.warn(ctx, "deliveries were not made", err)
		}
		pause.Wait(ctx)
	}
}

// fan remembers how far the outbox was read. Only its goroutine uses it.
type fan struct {
	*Deliverer
	known   bool       // progress is that of the database
	stored  Progress   // up to which there are deliveries
	scanned outbox.Key // up to which the outbox has nothing more for the endpoints that there were
}

// page makes the deliveries of the next messages, and reports whether there were any. A message belongs to the term of
// an endpoint in which it lies by its position. So nothing depends on when the outbox is read: a new endpoint gets
// nothing from before it was registered, and after an outage or a rebuild nothing is left out or sent again.
func (f *fan) page(ctx context.Context) (some bool, err error) {
	if !f.known {
		if err := f.begin(ctx); err != nil {
			return false, err
		}
	}
	upTo := f.cfg.Views.Position(outbox.Name)
	end := outbox.Key{Position: int64(upTo), Ordinal: math.MaxInt32} //nolint:gosec // positions fit
	if end == f.scanned {
		return false, nil
	}
	if err := f.cfg.Views.WaitFor(ctx, webhooksviews.EndpointsName, upTo); err != nil {
		return false, err
	}
	query := webhooksviews.EndpointsQuery{Views: f.cfg.Views}
	terms, err := query.Terms(ctx, f.stored.Position)
	if err != nil {
		return false, err
	}
	orgs, first := subscribed(terms)
	if len(orgs) == 0 {
		return false, nil // an endpoint that is registered later gets nothing from before
	}
	after := f.scanned
	if first > after.Position {
		after = outbox.Key{Position: first, Ordinal: math.MaxInt32}
	}
	found, err := outbox.Query{Views: f.cfg.Views}.Range(ctx, orgs, after, end.Position, fanPage)
	if err != nil {
		return false, err
	}
	if len(found) == 0 {
		f.scanned = end
		return false, nil
	}
	return true, f.make(ctx, found, terms)
}

// begin reads how far deliveries were made. It fails when the log is not the one of that time: no delivery is made then
// until a person has looked, since messages of the other log would be left out.
func (f *fan) begin(ctx context.Context) (err error) {
	if f.stored, err = f.cfg.Store.Progress(ctx); err != nil {
		return err
	}
	position := uint64(max(0, f.stored.Position)) //nolint:gosec // not negative
	err = f.cfg.Views.Covers(ctx, position, f.stored.Mark)
	if runner.IsOtherLog(err) {
		return fmt.Errorf("deliveries of webhooks, made up to position %d: %w; docs/operations.md says what to do",
			position, err)
	}
	if err != nil {
		return err
	}
	f.scanned, f.known = f.stored.Key, true
	return nil
}

// subscribed lists the organizations that have endpoints, and gives the position after which the oldest term begins.
func subscribed(terms []webhooksviews.Term) (orgs []id.Organization, first int64) {
	seen := map[id.Organization]bool{}
	first = math.MaxInt64
	for _, t := range terms {
		first = min(first, t.After)
		if !seen[t.OrgID] {
			seen[t.OrgID], orgs = true, append(orgs, t.OrgID)
		}
	}
	return orgs, first
}

// make stores the deliveries of messages, with the progress.
func (f *fan) make(ctx context.Context, found []outbox.Row, terms []webhooksviews.Term) error {
	of := map[id.Organization][]webhooksviews.Term{}
	for _, t := range terms {
		of[t.OrgID] = append(of[t.OrgID], t)
	}
	var list []Delivery
	for _, m := range found {
		body := ""
		for _, t := range of[m.OrgID] {
			if !t.Takes(m.Position, m.Type) {
				continue
			}
			if body == "" {
				text, err := json.Marshal(m.Envelope())
				if err != nil {
					return fmt.Errorf("write message %s: %w", m.ID, err)
				}
				body = string(text)
			}
			list = append(list, Delivery{
				OrgID: m.OrgID, WebhookID: t.Webhook, MessageID: m.ID, Type: m.Type, Position: m.Position, Body: body,
			})
		}
	}
	to, err := f.progress(ctx, found[len(found)-1].Key())
	if err != nil {
		return err
	}
	if err := f.cfg.Store.FanOut(ctx, f.stored, to, list, f.now()); err != nil {
		return err
	}
	f.stored, f.scanned = to, to.Key
	f.touch(list)
	return nil
}

// progress is the place of a message with the event that it is of. A newer event that the outbox has had says nothing
// about that place: it may be lost, and the message not.
func (f *fan) progress(ctx context.Context, at outbox.Key) (Progress, error) {
	position := uint64(max(0, at.Position)) //nolint:gosec // not negative
	mark := f.cfg.Views.Mark(outbox.Name)
	if mark.Position > position {
		var err error
		if mark, err = f.cfg.Views.MarkAt(ctx, position); err != nil {
			return Progress{}, err
		}
	}
	if mark.IsZero() {
		mark = f.stored.Mark
	}
	return Progress{Key: at, Mark: mark}, nil
}

// now is the clock's time in microseconds, which is the precision of PostgreSQL.
func (d *Deliverer) now() time.Time { return d.cfg.Clock.Now().UTC().Truncate(time.Microsecond) }
