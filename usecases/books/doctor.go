package bookscases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Patience is how long another part of the program may take to follow a change before the books count it as a fault. It
// is longer than the hour between two sweeps of money (docs/rules/money.md#alarms).
const Patience = 2 * time.Hour

// AtOnce is the number of invoices and credited receipts whose books are in memory at once, each with about 1.3 kB. A
// subscriber counts as perSubscriber of them.
const AtOnce = 400_000

// perSubscriber is the memory for a subscriber with a subscription and without invoices, counted in invoices.
const perSubscriber = 3

// Doctor checks books. Safe for concurrent use.
type Doctor struct {
	// Read gives every event after a position (0 = all) of the kinds that wants accepts, in the order of the log, once,
	// up to the end that the log had when it was called. It returns the position of that end. In the place of an event
	// that cannot be read it may give an Unread.
	Read func(ctx context.Context, after uint64, wants func(events.Event) bool, take func(events.Envelope)) (
		end uint64, err error)
	// Claims gives the key of a unique value; it is the one of the bus.
	Claims func(kind, value string) uuid.UUID
	Clock  clock.Clock
	// Patience is usually the constant of this name. Zero judges everything, for a program that is known to rest.
	Patience time.Duration
	// AtOnce is usually the constant of this name, and at least 1.
	AtOnce int
}

// Report is the result of one check.
type Report struct {
	Org     id.Organization // zero = the platform itself
	Faults  []Fault         // in a fixed order; none when the books are right
	Unowned []Unowned       // of the platform only; no fault
	Err     error           // why these books could not be folded; nothing is known about them then
}

// Reading is organizations whose books are in memory together, so that the log is read for all of them at once. An
// organization that is too large is alone; its books are made in parts, and the log is read once for each.
type Reading struct {
	Orgs  []id.Organization // zero = the platform itself
	parts int               // at least 1
}

// Of is the same reading for some of its organizations.
func (r Reading) Of(orgs []id.Organization) Reading { return Reading{orgs, r.parts} }

// Readings reads the log once, to find how large the organizations are, and shares them out. An organization is in the
// first reading that has room for it, so what comes first in the list is mostly read first.
func (d Doctor) Readings(ctx context.Context, orgs []id.Organization) ([]Reading, error) {
	sizes, err := d.sizes(ctx, orgs)
	if err != nil {
		return nil, fmt.Errorf("find the size of books: %w", err)
	}
	var list []Reading
	var room []int
	for _, org := range orgs {
		size := sizes[org]
		at := slices.IndexFunc(room, func(left int) bool { return left >= size })
		if at < 0 {
			list = append(list, Reading{parts: (size + d.AtOnce - 1) / d.AtOnce})
			room = append(room, max(d.AtOnce, size))
			at = len(list) - 1
		}
		list[at].Orgs = append(list[at].Orgs, org)
		room[at] -= size
	}
	return list, nil
}

// sizes counts the subscribers, invoices and credited receipts of organizations. Each also counts as one for itself.
func (d Doctor) sizes(ctx context.Context, orgs []id.Organization) (map[id.Organization]int, error) {
	sizes := map[id.Organization]int{}
	for _, org := range orgs {
		sizes[org] = 1
	}
	wants := func(e events.Event) bool {
		switch e.(type) {
		case events.SubscriberRegistered, events.InvoiceDrafted, events.ReceiptCredited:
			return true
		}
		return false
	}
	_, err := d.Read(ctx, 0, wants, func(e events.Envelope) {
		needs := 1
		if _, ok := e.Event.(events.SubscriberRegistered); ok {
			needs = perSubscriber
		}
		if size := sizes[e.Meta.OrgID]; size > 0 {
			sizes[e.Meta.OrgID] = size + needs
		}
	})
	return sizes, err
}

// Books replays the log for the organizations of a reading, and reports every fault of each, in their order. An error
// says that nothing is known about any of them, because the log cannot be read. Where only one of them cannot be
// folded, its own report says so.
func (d Doctor) Books(ctx context.Context, r Reading) ([]Report, error) {
	reports := make([]Report, len(r.Orgs))
	for at := range r.parts {
		g := NewGroup(Part{at, r.parts}, d.Claims, r.Orgs...)
		if err := d.fold(ctx, g); err != nil {
			return nil, fmt.Errorf("check books: %w", err)
		}
		for i, org := range r.Orgs {
			part, all := g.Report(org, d.Clock.Now(), d.Patience), &reports[i]
			all.Org, all.Err = org, errors.Join(all.Err, part.Err)
			all.Faults, all.Unowned = append(all.Faults, part.Faults...), append(all.Unowned, part.Unowned...)
		}
	}
	return reports, nil
}

// fold reads the log into the books of a group. Values that nobody of the group has reserved are looked up in a second
// reading; there are some only where books have faults.
func (d Doctor) fold(ctx context.Context, g *Group) error {
	return loop.Try(func() error {
		_, err := d.Read(ctx, 0, Wants, g.Take)
		if err == nil && g.Unreserved() {
			_, err = d.Read(ctx, 0, func(e events.Event) bool { _, ok := e.(events.ClaimEvent); return ok }, g.LookUp)
		}
		return err
	})
}

// Check is all readings of organizations, one after the other. It tells each report as soon as it is known.
func (d Doctor) Check(ctx context.Context, orgs []id.Organization, tell func(Report) error) error {
	readings, err := d.Readings(ctx, orgs)
	if err != nil {
		return err
	}
	for _, r := range readings {
		reports, err := d.Books(ctx, r)
		for i := 0; err == nil && i < len(reports); i++ {
			err = tell(reports[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Tenant is an organization with what its nightly check needs.
type Tenant struct {
	ID   id.Organization
	Slug string
	Zone *time.Location // UTC when the name of the zone is unknown here
}

// Register lists all organizations. The zero value has looked at nothing yet. It is not safe for concurrent use.
type Register struct {
	list  []Tenant
	at    map[id.Organization]int
	until uint64 // position up to which the log was searched
}

// Tenants lists all organizations from the log, in the order in which they were made. It reads what is new since it was
// called for the register before: organizations are few, and the search for them is through the whole log.
func (d Doctor) Tenants(ctx context.Context, r *Register) ([]Tenant, error) {
	wants := func(e events.Event) bool {
		switch e.(type) {
		case events.OrganizationCreated, events.BillingSettingsAdopted:
			return true
		}
		return false
	}
	end, err := d.Read(ctx, r.until, wants, r.take)
	if err != nil {
		return nil, fmt.Errorf("list organizations: %w", err)
	}
	r.until = end
	return slices.Clone(r.list), nil
}

// take enters an event of an organization. After a reading that failed, it comes again.
func (r *Register) take(e events.Envelope) {
	switch v := e.Event.(type) {
	case events.OrganizationCreated:
		if _, known := r.at[v.OrgID]; known {
			return
		}
		if r.at == nil {
			r.at = map[id.Organization]int{}
		}
		r.at[v.OrgID] = len(r.list)
		r.list = append(r.list, Tenant{v.OrgID, v.Slug, calendar.ZoneOrUTC(v.Billing.Timezone)})
	case events.BillingSettingsAdopted:
		if i, known := r.at[v.OrgID]; known {
			r.list[i].Zone = calendar.ZoneOrUTC(v.Billing.Timezone)
		}
	}
}
