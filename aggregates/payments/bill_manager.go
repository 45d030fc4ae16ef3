package payments

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// BillOptIns defines how the platform is known to the bill manager: one stream for each of its shortcodes. They belong
// to no organization.
func BillOptIns() aggregates.Definition[BillOptIn, commands.BillOptInCommand, events.BillOptInEvent] {
	return aggregates.Definition[BillOptIn, commands.BillOptInCommand, events.BillOptInEvent]{
		Category: commands.BillOptInCategory, Missing: commands.ErrNoBillOptIn, Evolve: evolveBillOptIn,
		Decide: decideBillOptIn, Commands: []commands.BillOptInCommand{commands.RecordBillOptIn{}},
	}
}

// BillOptIn is how the bill manager knows one shortcode. The zero value is "not at all".
type BillOptIn struct {
	Shortcode string
	Reminders bool
	Key       id.Secret
	At        time.Time
}

// evolveBillOptIn applies one recorded event.
func evolveBillOptIn(s BillOptIn, e events.BillOptInEvent) BillOptIn {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.BillManagerOptedIn:
		return BillOptIn{Shortcode: e.Shortcode, Reminders: e.Reminders, Key: e.KeyRef, At: e.At}
	}
	return s
}

// decideBillOptIn takes each key that the bill manager gives: the one before may be of no use any more.
func decideBillOptIn(
	s BillOptIn, c commands.BillOptInCommand, now time.Time,
) ([]events.BillOptInEvent, error) {
	switch c := c.(type) {
	case commands.RecordBillOptIn:
		if s.Key == c.KeyRef {
			return nil, nil
		}
		return []events.BillOptInEvent{events.BillManagerOptedIn{
			OptInID: c.OptInID, Environment: c.Environment, Shortcode: c.Shortcode, Reminders: c.Reminders,
			KeyRef: c.KeyRef, At: now,
		}}, nil
	}
	return nil, nil
}

// BillManagers defines whether the invoices of organizations go to the bill manager: one stream for each organization.
func BillManagers() aggregates.Definition[BillManager, commands.BillManagerCommand, events.BillManagerEvent] {
	return aggregates.Definition[BillManager, commands.BillManagerCommand, events.BillManagerEvent]{
		Category: commands.BillManagerCategory, Missing: commands.ErrNoBillManager, Evolve: evolveBillManager,
		Decide: decideBillManager, Owner: func(s BillManager) id.Organization { return s.Org },
		Commands: []commands.BillManagerCommand{commands.ConfigureBillManager{}, commands.LeaveBillManager{}},
	}
}

// BillManager is whether the invoices of one organization go there. The zero value is "off, never configured".
type BillManager struct {
	Org       id.Organization
	On        bool
	Reminders bool
	Left      bool // it is off because the organization takes money on a shortcode of its own
}

// evolveBillManager applies one recorded event.
func evolveBillManager(s BillManager, e events.BillManagerEvent) BillManager {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.BillManagerConfigured:
		return BillManager{Org: e.OrgID, On: e.On, Reminders: e.Reminders, Left: e.Left}
	}
	return s
}

// decideBillManager adopts settings. Equal ones give no event.
func decideBillManager(
	s BillManager, c commands.BillManagerCommand, now time.Time,
) ([]events.BillManagerEvent, error) {
	var adopted events.BillManagerConfigured
	switch c := c.(type) {
	case commands.ConfigureBillManager:
		adopted = events.BillManagerConfigured{OrgID: c.OrgID, On: c.On, Reminders: c.Reminders, At: now}
	case commands.LeaveBillManager:
		if s.Org.IsZero() {
			return nil, nil
		}
		adopted = events.BillManagerConfigured{OrgID: c.OrgID, Reminders: s.Reminders, Left: true, At: now}
	}
	if after := evolveBillManager(s, adopted); after == s || !after.On && !s.On && s.Left {
		return nil, nil // what has left stays so until it is turned on again
	}
	return []events.BillManagerEvent{adopted}, nil
}
