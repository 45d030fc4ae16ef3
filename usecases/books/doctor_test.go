package bookscases_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// readers is a doctor over a log in memory, who counts how often it is read.
type readers struct {
	bookscases.Doctor
	readings int
}

// doctor reads a log three days after its end.
func (w *world) doctor(log []events.Envelope, atOnce int) *readers {
	r := &readers{}
	r.Doctor = bookscases.Doctor{
		Claims: key, Clock: clock.NewManual(w.now.Add(72 * time.Hour)), Patience: time.Hour, AtOnce: atOnce,
		Read: func(_ context.Context, after uint64, wants func(events.Event) bool, take func(events.Envelope),
		) (uint64, error) {
			r.readings++
			for _, e := range log[after:] {
				if _, unread := e.Event.(bookscases.Unread); unread || wants(e.Event) {
					take(e)
				}
			}
			return uint64(len(log)), nil
		},
	}
	return r
}

// examined runs Check to its end. The reports have their organizations as keys.
func (r *readers) examined(t *testing.T, orgs []id.Organization) map[id.Organization]bookscases.Report {
	t.Helper()
	found := map[id.Organization]bookscases.Report{}
	err := r.Check(t.Context(), orgs, func(report bookscases.Report) error {
		found[report.Org] = report
		return nil
	})
	if err != nil || len(found) != len(orgs) {
		t.Fatalf("%d reports of %d organizations: %v", len(found), len(orgs), err)
	}
	return found
}

// many is a log of organizations of which each has one invoice, paid by money that belonged to nobody at first.
func many(t *testing.T, n int) (*world, []id.Organization) {
	t.Helper()
	w := emptyWorld(t)
	var orgs []id.Organization
	for i := range n {
		w.org, w.amina, w.after = id.New[id.Organization](), id.New[id.Subscriber](), map[string]int64{}
		orgs = append(orgs, w.org)
		w.orgs.do(coretest.NewOrganization(w.org, fmt.Sprintf("isp%d", i)))
		w.people.do(coretest.NewSubscriber(w.amina, w.org, i+1))
		w.bill(w.amina, 700)
		w.receipts.do(commands.MatchReceipt{
			ReceiptID: w.receive(700, id.Organization{}), OrgID: w.org, SubscriberID: w.amina, By: "account_number",
		})
	}
	return w, orgs
}

// TestDoctor_ReadsTheLogForAllOrganizationsTogether: two readings, whatever their number; more only where their books
// do not fit into memory together, and then no more than needed.
func TestDoctor_ReadsTheLogForAllOrganizationsTogether(t *testing.T) {
	t.Parallel()
	w, orgs := many(t, 12)
	for _, c := range []struct{ atOnce, readings int }{
		{1000, 2}, {72, 2}, {71, 3}, {18, 1 + 4}, {6, 1 + 12}, {3, 1 + 12*2}, // the size of each is 6
	} {
		d := w.doctor(w.log, c.atOnce)
		for org, report := range d.examined(t, append(slices.Clone(orgs), id.Organization{})) {
			if report.Err != nil || len(report.Faults) > 0 {
				t.Errorf("%d at once: organization %s: %v %v", c.atOnce, org, report.Faults, report.Err)
			}
		}
		if most := c.readings + 1; d.readings < c.readings || d.readings > most { // the platform may need its own
			t.Errorf("%d at once: %d readings, want %d", c.atOnce, d.readings, c.readings)
		}
	}
	d := w.doctor(w.log, 72)
	if d.examined(t, orgs); d.readings != 2 {
		t.Errorf("%d readings for all organizations, want 2", d.readings)
	}
}

// TestDoctor_FindsTogetherWhatItFindsAlone: a fault of one organization is reported for it and for no other.
func TestDoctor_FindsTogetherWhatItFindsAlone(t *testing.T) {
	t.Parallel()
	w, orgs := many(t, 5)
	log := without(w.log, func(e events.Envelope) bool {
		switch v := e.Event.(type) {
		case events.InvoiceAllocated:
			return e.Meta.OrgID == orgs[1]
		case events.ClaimTaken:
			return e.Meta.OrgID == orgs[2] && v.Kind == "slug"
		case events.ReceiptMatched:
			return e.Meta.OrgID == orgs[3]
		}
		return false
	})
	together := w.doctor(log, 1000).examined(t, append(slices.Clone(orgs), id.Organization{}))
	for org, report := range together {
		alone := w.doctor(log, 1000).examined(t, []id.Organization{org})
		if diff := cmp.Diff(alone[org], report); diff != "" {
			t.Errorf("organization %s (-alone +together):\n%s", org, diff)
		}
	}
	for i, want := range []int{0, 1, 1, 1, 0} {
		if got := together[orgs[i]].Faults; (len(got) > 0) != (want > 0) {
			t.Errorf("organization %d: %v", i, got)
		}
	}
	if list := together[id.Organization{}].Unowned; len(list) != 1 || list[0].Amount != kes(700) {
		t.Errorf("nobody's money: %+v", list)
	}
}

// TestDoctor_BooksThatCannotBeFoldedLeaveTheOthersReadable: the fold of an account panics on money of another currency,
// or an event cannot be read.
func TestDoctor_BooksThatCannotBeFoldedLeaveTheOthersReadable(t *testing.T) {
	t.Parallel()
	w, orgs := many(t, 3)
	log := slices.Clone(w.log)
	at := slices.IndexFunc(log, func(e events.Envelope) bool {
		_, ok := e.Event.(events.InvoiceAllocated)
		return ok && e.Meta.OrgID == orgs[1]
	})
	v, _ := log[at].Event.(events.InvoiceAllocated)
	v.Amount = money.Major(1, "USD")
	for _, bad := range []events.Event{v, bookscases.Unread{Type: v.EventType(), Cause: io.ErrUnexpectedEOF}} {
		log[at].Event = bad
		for org, report := range w.doctor(log, 1000).examined(t, orgs) {
			if broken := org == orgs[1]; (report.Err != nil) != broken || len(report.Faults) > 0 {
				t.Errorf("organization %s: %v %v", org, report.Faults, report.Err)
			}
		}
	}
}

// TestDoctor_AValueThatAnotherOrganizationHasReservedIsNamed: also when the books of the other one are not read.
func TestDoctor_AValueThatAnotherOrganizationHasReservedIsNamed(t *testing.T) {
	t.Parallel()
	w, orgs := many(t, 2)
	log, heir := slices.Clone(w.log), id.New[id.Any]()
	for i, e := range log {
		if v, ok := e.Event.(events.ClaimTaken); ok && v.Kind == "slug" && e.Meta.OrgID == orgs[0] {
			v.Owner = heir
			log[i].Event, log[i].Meta.OrgID = v, orgs[1]
		}
	}
	faults := w.doctor(log, 1000).examined(t, orgs[:1])[orgs[0]].Faults
	if len(faults) != 1 || faults[0].Code != bookscases.ClaimOfSomebodyElse || faults[0].About[2].ID != heir {
		t.Errorf("faults: %v", faults)
	}
}

// TestDoctor_SearchesOnlyTheNewPartOfTheLogForOrganizations: those of before stay, with the zone that they have now.
func TestDoctor_SearchesOnlyTheNewPartOfTheLogForOrganizations(t *testing.T) {
	t.Parallel()
	w, orgs := many(t, 2)
	half := slices.IndexFunc(w.log, func(e events.Envelope) bool { return e.Meta.OrgID == orgs[1] })
	var register bookscases.Register
	for _, step := range []struct{ end, want int }{{half, 1}, {half, 1}, {len(w.log), 2}} {
		list, err := w.doctor(w.log[:step.end], 1).Tenants(t.Context(), &register)
		if err != nil || len(list) != step.want || list[0].ID != orgs[0] || list[0].Slug != "isp0" {
			t.Errorf("up to %d: %+v %v", step.end, list, err)
		}
	}
	settings := coretest.NewOrganization(orgs[0], "isp0").Billing
	settings.Timezone = "America/New_York"
	moved := append(slices.Clone(w.log), events.Envelope{
		Event: events.BillingSettingsAdopted{OrgID: orgs[0], Billing: settings},
	})
	list, err := w.doctor(moved, 1).Tenants(t.Context(), &register)
	if err != nil || len(list) != 2 || list[0].Zone.String() != "America/New_York" {
		t.Errorf("after new settings: %+v %v", list, err)
	}
}

// TestBooks_OfAStreamThatCannotBeReadAreCheckedOtherwise: the state of before stays, so nothing else is reported.
func TestBooks_OfAStreamThatCannotBeReadAreCheckedOtherwise(t *testing.T) {
	t.Parallel()
	w := story(t)
	list := w.faults(edited(w, all[events.AccountPeriodClosed],
		func(e *events.AccountPeriodClosed) { e.Opening = []byte(`null`) }))
	if len(list) != 1 || list[0].Code != bookscases.StreamUnreadable {
		t.Errorf("faults: %v", list)
	}
}
