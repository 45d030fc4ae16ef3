package bookscases

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Patience is how long another part of the program may take to follow a change before the books count it as a fault. It
// is longer than the hour between two sweeps of money (docs/rules/money.md#alarms).
const Patience = 2 * time.Hour

// Doctor checks books. Safe for concurrent use.
type Doctor struct {
	// Read gives every event of the kinds that wants accepts, in the order of the log, once, up to the end that the log
	// had when it was called.
	Read func(ctx context.Context, wants func(events.Event) bool, take func(events.Envelope)) error
	// Claims gives the key of a unique value; it is the one of the bus.
	Claims func(kind, value string) uuid.UUID
	Clock  clock.Clock
	// Patience is usually the constant of this name. Zero judges everything, for a program that is known to rest.
	Patience time.Duration
}

// Report is the result of one check.
type Report struct {
	Org     id.Organization // zero = the platform itself
	Faults  []Fault         // in a fixed order; none when the books are right
	Unowned []Unowned       // of the platform only; no fault
}

// perPart is the number of invoices and credited receipts whose books are in memory at once, each with about 1.3 kB. An
// organization with more is checked in parts, and the log is read once for each.
const perPart = 400_000

// Books replays the log of one organization, or of the platform itself for the zero organization, and reports every
// fault. An error says that the books could not be checked, because the log cannot be read or folded.
func (d Doctor) Books(ctx context.Context, org id.Organization) (Report, error) {
	size, err := d.size(ctx, org)
	report := Report{Org: org}
	for at, of := 0, 1+size/perPart; at < of && err == nil; at++ {
		b := New(org, Part{at, of}, d.Claims)
		err = d.read(ctx, Wants, b.Take)
		report.Faults = append(report.Faults, b.Faults(d.Clock.Now(), d.Patience)...)
		if org.IsZero() {
			report.Unowned = append(report.Unowned, b.Unowned()...)
		}
	}
	if err != nil {
		return Report{}, fmt.Errorf("check books of organization %s: %w", org, err)
	}
	return report, nil
}

// size counts the invoices and credited receipts of an organization.
func (d Doctor) size(ctx context.Context, org id.Organization) (count int, err error) {
	wants := func(e events.Event) bool {
		switch e.(type) {
		case events.InvoiceDrafted, events.ReceiptCredited:
			return true
		}
		return false
	}
	err = d.read(ctx, wants, func(e events.Envelope) {
		if e.Meta.OrgID == org {
			count++
		}
	})
	return count, err
}

// Tenant is an organization with what its nightly check needs.
type Tenant struct {
	ID   id.Organization
	Slug string
	Zone *time.Location // UTC when the name of the zone is unknown here
}

// Tenants lists all organizations from the log, in the order in which they were made.
func (d Doctor) Tenants(ctx context.Context) ([]Tenant, error) {
	var list []Tenant
	at := map[id.Organization]int{}
	wants := func(e events.Event) bool {
		switch e.(type) {
		case events.OrganizationCreated, events.BillingSettingsAdopted:
			return true
		}
		return false
	}
	err := d.read(ctx, wants, func(e events.Envelope) {
		switch v := e.Event.(type) {
		case events.OrganizationCreated:
			at[v.OrgID] = len(list)
			list = append(list, Tenant{v.OrgID, v.Slug, zone(v.Billing.Timezone)})
		case events.BillingSettingsAdopted:
			if i, known := at[v.OrgID]; known {
				list[i].Zone = zone(v.Billing.Timezone)
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list organizations: %w", err)
	}
	return list, nil
}

// read turns a panic into an error: the fold of a broken log may panic, and then the books cannot be checked.
func (d Doctor) read(ctx context.Context, wants func(events.Event) bool, take func(events.Envelope)) error {
	return loop.Try(func() error { return d.Read(ctx, wants, take) })
}

// zone finds a time zone by its name.
func zone(name string) *time.Location {
	if z, err := time.LoadLocation(name); err == nil {
		return z
	}
	return time.UTC
}
