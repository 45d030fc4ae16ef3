package accesscases

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestMeter_LeavesAnOrganizationAlone: of which an event cannot be read, whatever else is known of it.
func TestMeter_LeavesAnOrganizationAlone(t *testing.T) {
	t.Parallel()
	m := NewMeter(MeterConfig{Clock: clock.System(), Logger: storetest.Quiet()})
	sold := func(org id.Organization) telemetry.Used {
		s := id.New[id.Subscription]()
		m.Apply(events.Envelope{Meta: events.Metadata{OrgID: org}, Event: events.SubscriptionCreated{
			SubscriptionID: s, OrgID: org, SubscriberID: id.New[id.Subscriber](),
		}})
		return telemetry.Used{Org: org, Subscription: s}
	}
	bad, good := id.New[id.Organization](), id.New[id.Organization]()
	used := []telemetry.Used{sold(bad), sold(good)}
	m.Leave(bad)
	used = append(used, sold(bad))
	if m.Take(used); m.howMany() != 1 || !m.wanted[used[1].Subscription] {
		t.Errorf("wanted %v of %v", m.wanted, used)
	}
}

// TestMeter_APanicInItHoldsUpNobodyWhoTellsIt: the recorder of all accounting does, and goes on after a panic.
func TestMeter_APanicInItHoldsUpNobodyWhoTellsIt(t *testing.T) {
	t.Parallel()
	org, voucher := id.New[id.Organization](), id.New[id.Subscription]()
	m := NewMeter(MeterConfig{Clock: clock.System(), Logger: storetest.Quiet()})
	m.lines[voucher] = &meterLine{
		subject: events.UsageSubject{OrgID: org, SubscriptionID: voucher}, ends: time.Now().Add(time.Hour),
	}
	m.cfg.Clock = nil // panics when it is asked
	used := []telemetry.Used{{Org: org, Subscription: voucher}}
	if err := loop.Try(func() error {
		m.Take(used)
		return nil
	}); loop.StackOf(err) == "" {
		t.Fatalf("%v", err)
	}
	if !m.mu.TryLock() {
		t.Fatal("the meter is locked for ever")
	}
	m.mu.Unlock()
	m.cfg.Clock = clock.System()
	if m.Take(used); m.howMany() != 1 {
		t.Error("what is told later does not count")
	}
}
