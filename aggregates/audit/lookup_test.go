package audit_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// lookUp asks who had an address an hour ago.
func lookUp() commands.LookUpAddress {
	return commands.LookUpAddress{
		LookupID: id.Derive[id.Lookup]("test", "lookup"), OrgID: org,
		SubscriberID: id.Derive[id.Subscriber]("test", "amina"), Address: personal.Of("100.64.0.9"),
		HadAt: now.Add(-time.Hour),
	}
}

func TestLookup_IsRecordedOnceForItsOrganization(t *testing.T) {
	t.Parallel()
	c := lookUp()
	decidertest.For(t, audit.Lookups(), now).When(c).Then(events.AddressLookedUp{
		LookupID: c.LookupID, OrgID: org, SubscriberID: c.SubscriberID, Address: c.Address, HadAt: c.HadAt, At: now,
	}).When(c).ThenNothing()
	s := decidertest.For(t, audit.Lookups(), now).When(c)
	s.ThenEvents()
	s.BelongsTo(org, "not_found")
}

func TestLookup_NeedsAnAddressAndAnInstant(t *testing.T) {
	t.Parallel()
	for _, spoil := range []func(*commands.LookUpAddress){
		func(c *commands.LookUpAddress) { c.Address = personal.Of("amina") },
		func(c *commands.LookUpAddress) { c.HadAt = time.Time{} },
	} {
		c := lookUp()
		spoil(&c)
		if c.Validate() == nil {
			t.Errorf("%+v is valid", c)
		}
	}
}
