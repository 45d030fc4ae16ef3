package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// doctorCommands has the sub-commands of `lastmile doctor`, which change nothing.
type doctorCommands struct {
	Books doctorBooks `cmd:"" help:"Replay accounts and receipts from the log and report contradictions."`
}

// doctorBooks is `lastmile doctor books`. Exit codes: 0 no fault, 1 faults, 2 the books could not be checked.
type doctorBooks struct {
	Org     string        `help:"Slug of one organization; all organizations and the platform by default."`
	Settled time.Duration `default:"2h" help:"What changed within this time may still be in work; 0 judges everything."`
}

// errFaulty ends `doctor books` with exit code 1.
var errFaulty = errors.New("the books have faults: docs/books.md has a section for each code")

// uncheckedError ends `doctor books` with exit code 2: nothing is known about the books. It hides its cause, because an
// interrupted check is no success.
type uncheckedError struct{ cause error }

// Error tells what went wrong.
func (e uncheckedError) Error() string { return "the books could not be checked: " + e.cause.Error() }

// newDoctor makes a doctor who reads the log of a storage.
func newDoctor(s *storage, c clock.Clock) bookscases.Doctor {
	return bookscases.Doctor{
		Read: readLog(s.store), Claims: s.vault.ClaimKey, Clock: c, Patience: bookscases.Patience,
		AtOnce: bookscases.AtOnce,
	}
}

// readLog reads the events after a position that wants accepts by one subscription, whose server leaves the others out,
// until it has caught up. Memory holds a page of events at a time. In the place of an event of an organization that
// cannot be read it gives a bookscases.Unread; one of nobody ends the reading.
func readLog(store *eventstore.Store) func(
	context.Context, uint64, func(events.Event) bool, func(events.Envelope),
) (uint64, error) {
	return func(
		ctx context.Context, after uint64, wants func(events.Event) bool, take func(events.Envelope),
	) (uint64, error) {
		var types []string
		for _, e := range catalog.Events() {
			if wants(e) {
				types = append(types, e.EventType())
			}
		}
		return followLog(ctx, store, after, types, func(e events.Envelope) bool {
			take(e)
			return true
		})
	}
}

// followLog is readLog for types of events, nil = all, until take returns false; the position is then that of the last
// event.
func followLog(
	ctx context.Context, store *eventstore.Store, after uint64, types []string, take func(events.Envelope) bool,
) (uint64, error) {
	sub := store.Subscribe(ctx, after, types)
	defer func() { sub.Close() }()
	for {
		item, err := sub.Next(ctx)
		var bad *catalog.UndecodableError
		switch {
		case errors.As(err, &bad) && !bad.OrgID.IsZero():
			if !take(events.Envelope{
				Position: bad.Position, Type: bad.Type, Meta: events.Metadata{OrgID: bad.OrgID},
				Event: bookscases.Unread{Type: bad.Type, Cause: bad},
			}) {
				return bad.Position, nil
			}
			sub.Close()
			sub = store.Subscribe(ctx, bad.Position, types)
		case err != nil:
			return 0, err
		case item.CaughtUp:
			return item.Position, nil
		case item.Event != nil && !take(*item.Event):
			return item.Position, nil
		}
	}
}

// Run checks the books and prints every fault.
func (c doctorBooks) Run(ctx context.Context, p program) error {
	cfg, err := p.config()
	if err != nil {
		return uncheckedError{err}
	}
	l := newLifecycle(quiet(p, cfg))
	defer l.stop()
	now := productClock(cfg)
	s, err := openStorage(ctx, cfg, now, l, storageMode{node: true, attach: true})
	if err != nil {
		return uncheckedError{err}
	}
	doctor := newDoctor(s, now)
	doctor.Patience = c.Settled
	faulty := false
	err = loop.Try(func() error {
		faulty, err = c.examine(ctx, p.out, doctor)
		return err
	})
	switch {
	case err != nil:
		return uncheckedError{err}
	case faulty:
		return errFaulty
	}
	return nil
}

// examine checks one organization, or all and the platform. It goes on when the books of one cannot be folded.
func (c doctorBooks) examine(ctx context.Context, out io.Writer, doctor bookscases.Doctor) (faulty bool, err error) {
	tenants, err := doctor.Tenants(ctx, &bookscases.Register{})
	if err != nil {
		return false, err
	}
	if c.Org == "" {
		tenants = append(tenants, bookscases.Tenant{Slug: platformBooks})
	} else {
		tenants = slices.DeleteFunc(tenants, func(t bookscases.Tenant) bool { return t.Slug != c.Org })
	}
	if len(tenants) == 0 {
		return false, fmt.Errorf("there is no organization %q", c.Org)
	}
	var unfolded error
	err = doctor.Check(ctx, orgsOf(tenants), func(r bookscases.Report) error {
		if r.Err != nil {
			unfolded = errors.Join(unfolded, r.Err)
			return nil
		}
		faulty = faulty || len(r.Faults) > 0
		return tellReport(out, slugOf(tenants, r.Org), r)
	})
	return faulty, errors.Join(err, unfolded)
}

// orgsOf lists the ids of organizations.
func orgsOf(tenants []bookscases.Tenant) []id.Organization {
	list := make([]id.Organization, len(tenants))
	for i, t := range tenants {
		list[i] = t.ID
	}
	return list
}

// slugOf is the slug of an organization in a list; the platform's when it is not there.
func slugOf(tenants []bookscases.Tenant, org id.Organization) string {
	for _, t := range tenants {
		if t.ID == org {
			return t.Slug
		}
	}
	return platformBooks
}

// platformBooks stands for the platform itself where an organization has its slug.
const platformBooks = "(platform)"

// tellReport prints the result for one organization: a line with the number of faults, then two lines for each.
func tellReport(out io.Writer, slug string, r bookscases.Report) error {
	_, err := fmt.Fprintf(out, "%s: %d faults\n", slug, len(r.Faults))
	for _, f := range r.Faults {
		if err == nil {
			_, err = fmt.Fprintf(out, "  %s\n      %s\n", f, f.Code.Meaning())
		}
	}
	for _, u := range r.Unowned {
		if err == nil {
			_, err = fmt.Fprintf(out, "  nobody's money: receipt %s %s %s on %s since %s\n", u.ReceiptID, u.Number,
				u.Amount, u.Shortcode, u.Since.Format(time.RFC3339))
		}
	}
	return err
}
