package bookscases

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Unread stands in the place of an event that cannot be read; the metadata have its organization.
type Unread struct {
	Type  string
	Cause error
}

// EventType implements events.Event.
func (u Unread) EventType() string { return u.Type }

// Group are the books of several organizations, made from one reading of the log. Each event reaches the books of the
// organization in its metadata. Users, unique values and receipts that belong to nobody yet can change their owner, so
// the group keeps them once for all. It is not safe for concurrent use.
type Group struct {
	books  map[id.Organization]*Books
	broken map[id.Organization]error // why books could not be folded; their other events are left out
	shared *shared
}

// shared has the facts that the books of a group have in common.
type shared struct {
	users   owners
	values  values
	nobodys map[id.Receipt]*receipt          // receipts that belong to nobody yet
	waiting map[id.Receipt][]events.Envelope // their events, for the books of the organization that will have them
}

// NewGroup makes the books of organizations without any event; the zero organization is the platform itself. Parts are
// those of each organization. key gives the key of a unique value, as the bus does.
func NewGroup(part Part, key func(kind, value string) uuid.UUID, orgs ...id.Organization) *Group {
	g := &Group{
		books: map[id.Organization]*Books{}, broken: map[id.Organization]error{},
		shared: &shared{
			users: users(), values: values{orgs: map[id.Organization]bool{}, held: map[uuid.UUID]claim{}},
			nobodys: map[id.Receipt]*receipt{}, waiting: map[id.Receipt][]events.Envelope{},
		},
	}
	for _, org := range orgs {
		g.shared.values.orgs[org] = true
		g.books[org] = newBooks(org, part, key, g.shared)
	}
	return g
}

// Take enters the next event of the log. Events of other organizations and of other kinds change nothing. A panic of a
// fold, and an event that cannot be read, end the books of the organization alone.
func (g *Group) Take(e events.Envelope) {
	switch v := e.Event.(type) {
	case Unread: // the books of its organization lack it
		if org := e.Meta.OrgID; g.broken[org] == nil {
			g.broken[org] = v.Cause
		}
	case events.UserEvent:
		_ = g.shared.users.take(e) // users have no closed streams, so it does not fail
	case events.ClaimEvent:
		g.shared.values.take(e)
	case events.ReceiptEvent:
		g.takeReceipt(e, v)
	default:
		g.give(e.Meta.OrgID, e)
	}
}

// give enters an event into the books of an organization, if they are in the group.
func (g *Group) give(org id.Organization, list ...events.Envelope) {
	b := g.books[org]
	if b == nil || g.broken[org] != nil {
		return
	}
	err := loop.Try(func() error {
		for _, e := range list {
			b.take(e)
		}
		return nil
	})
	if err != nil {
		g.broken[org] = err
	}
}

// takeReceipt keeps the events of a receipt that belonged to nobody until its money is used: the platform gives it to
// an organization, and may give it to another one before that.
func (g *Group) takeReceipt(e events.Envelope, v events.ReceiptEvent) {
	of := id.As[id.Receipt](e.Meta.AggregateID)
	if first, ok := v.(events.ReceiptRecorded); ok && first.OrgID.IsZero() {
		g.shared.nobodys[of] = newReceipt(first, e.Meta.At)
	}
	r, history := g.shared.nobodys[of], g.shared.waiting[of]
	if r == nil && history == nil {
		g.give(e.Meta.OrgID, e)
		return
	}
	again, given := v.(events.ReceiptAssigned)
	if given && r == nil {
		g.give(again.From, e)
		history = slices.DeleteFunc(history, assigns)
	}
	g.shared.waiting[of] = append(history, e)
	switch {
	case r == nil && given:
		g.give(again.OrgID, g.shared.waiting[of]...)
	case r == nil:
		g.give(e.Meta.OrgID, e)
	default:
		if r.take(e.Meta.At, v); r.org.IsZero() {
			return
		}
		g.give(r.org, g.shared.waiting[of]...)
		delete(g.shared.nobodys, of)
	}
	if uses(v) {
		delete(g.shared.waiting, of)
	}
}

// assigns reports whether an event gives a receipt to an organization.
func assigns(e events.Envelope) bool {
	_, is := e.Event.(events.ReceiptAssigned)
	return is
}

// uses reports whether the platform cannot give a receipt to another organization any more after an event.
func uses(v events.ReceiptEvent) bool {
	switch v.(type) {
	case events.ReceiptMatched, events.ReceiptAbsorbed, events.ReceiptReversed, events.ReceiptSetAside:
		return true
	default: // the money stays where it is
		return false
	}
}

// Unreserved reports whether a value is in use that no organization of the group has reserved. LookUp then finds who
// has reserved such values.
func (g *Group) Unreserved() bool {
	missing := map[uuid.UUID]bool{}
	for org, b := range g.books {
		if g.broken[org] == nil {
			b.claims.missing(missing)
		}
	}
	g.shared.values.wanted = missing
	return len(missing) > 0
}

// LookUp enters the events of unique values once more, after Unreserved.
func (g *Group) LookUp(e events.Envelope) { g.shared.values.lookUp(e) }

// Report checks the books of one organization as they are at an instant. What changed less than patience ago is not
// judged where another part of the program has yet to follow; zero judges everything, as when the program is known to
// rest.
func (g *Group) Report(org id.Organization, now time.Time, patience time.Duration) Report {
	report, err := Report{Org: org}, g.broken[org]
	if err == nil {
		err = loop.Try(func() error {
			report.Faults = g.books[org].faults(now, patience)
			report.Unowned = g.books[org].unowned()
			return nil
		})
	}
	if err != nil {
		return Report{Org: org, Err: fmt.Errorf("check books of organization %s: %w", org, err)}
	}
	return report
}
