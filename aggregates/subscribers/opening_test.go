package subscribers_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// firstForm is the last event of a stream that was closed before periods were facts of their own. It is of a
// subscription without a paid period that is known, and with an anniversary on the 31st; changes replace its fields.
func firstForm(t *testing.T, mode events.BillingMode, changes map[string]any) events.SubscriptionPeriodClosed {
	t.Helper()
	fields := map[string]any{
		"ID": subscription, "Owner": org, "SubscriberID": subscriber, "PlanVersion": 3, "Terms": terms(mode),
		"Timezone": "Africa/Nairobi", "StartsAt": now, "State": "active", "PausedAt": time.Time{},
		"PaidUntil": noon(2, 28), "AnchorDay": 31, "LastTo": noon(2, 28),
	}
	for name, value := range changes {
		fields[name] = value
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return events.SubscriptionPeriodClosed{SubscriptionID: subscription, SubscriberID: subscriber, Opening: text,
		Username: personal.Of("jane")}
}

func TestReopened_TheFirstFormKeepsOwnerZoneAndPause(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), noon(2, 20)).Given(firstForm(t, events.Prepaid, map[string]any{
		"State": "paused", "PausedAt": noon(2, 10),
	})).BelongsTo(org, "subscription_not_found")
	if got := s.State(); got.Timezone != "Africa/Nairobi" || !got.PausedAt.Equal(noon(2, 10)) ||
		got.SubscriberID != subscriber || !got.StartsAt.Equal(now) {
		t.Errorf("state %+v", got)
	}
	resume := commands.ResumeSubscription{SubscriptionID: subscription, Reason: "is back"}
	made := s.When(resume).ThenEvents()
	if e, _ := made[0].(events.SubscriptionResumed); !s.State().Gaps[0].From.Equal(noon(2, 10)) ||
		e.SubscriptionID != subscription {
		t.Errorf("the pause became %v", s.State().Gaps)
	}
}

func TestReopened_ThePaidTimeOfTheFirstFormGoesOnWithoutItsPeriods(t *testing.T) {
	t.Parallel()
	for _, mode := range []events.BillingMode{events.Prepaid, events.Postpaid} {
		s := decidertest.For(t, aggregate(), noon(2, 28)).Given(firstForm(t, mode, nil))
		if until := s.State().PaidUntil(); !until.Equal(noon(2, 28)) {
			t.Errorf("%s: paid until %s", mode, until)
		}
		made := s.When(due).ThenEvents()
		next, _ := made[len(made)-1].(events.PeriodDue)
		until, from, _ := told(t, s.When(paid(next.InvoiceID, noon(2, 28))).ThenEvents(), next.InvoiceID)
		if !from.Equal(noon(2, 28)) || !until.Equal(noon(3, 31)) { // the anniversary is kept
			t.Errorf("%s: the next month lies from %s to %s", mode, from, until)
		}
	}
}

func TestReopened_APauseMovesTheLastPaidPostpaidPeriodOnly(t *testing.T) {
	t.Parallel()
	a, b := id.Derive[id.Invoice]("old", "a"), id.Derive[id.Invoice]("old", "b")
	s := decidertest.For(t, aggregate(), noon(4, 2)).Given(firstForm(t, events.Postpaid, map[string]any{
		"PaidUntil": noon(4, 2), "LastTo": noon(4, 2), "Paid": map[id.Invoice]any{
			a: map[string]any{"From": now, "To": noon(2, 28)},
			b: map[string]any{"From": noon(2, 28), "To": noon(3, 31)},
		},
	}))
	places := s.State().Course().Places
	if len(places) != 2 || !places[0].To.Equal(noon(2, 28)) || !places[1].To.Equal(noon(4, 2)) {
		t.Errorf("the periods lie in %v", places)
	}
	if until, _, _ := told(t, s.When(withdraw(b)).ThenEvents(), b); !until.Equal(noon(2, 28)) {
		t.Errorf("after the withdrawal paid until %s", until)
	}
}

func TestReopened_OfTwentyFourPaidPeriodsOlderOnesAreArchived(t *testing.T) {
	t.Parallel()
	for _, kept := range []int{23, 24} {
		periods, from := map[id.Invoice]any{}, now
		for i := range kept {
			to := calendar.Month.After(from, 31, time.UTC)
			periods[id.Derive[id.Invoice]("old", string(rune('a'+i)))] = map[string]any{"From": from, "To": to}
			from = to
		}
		s := decidertest.For(t, aggregate(), from).Given(firstForm(t, events.Prepaid, map[string]any{
			"PaidUntil": from, "LastTo": from, "Paid": periods,
		}))
		state := s.State()
		if archived := state.Archived(id.New[id.Invoice]()); archived != (kept == 24) {
			t.Errorf("with %d paid periods an unknown one is archived: %v", kept, archived)
		}
		if !state.PaidUntil().Equal(from) || !state.Course().Places[0].From.Equal(now) || len(state.Gaps) != 0 {
			t.Errorf("with %d paid periods: from %s until %s, gaps %v", kept, state.Course().Places[0].From,
				state.PaidUntil(), state.Gaps)
		}
	}
}

func TestClose_PeriodsOfOtherTermsStayWhatTheyWere(t *testing.T) {
	t.Parallel()
	other := terms(events.Postpaid)
	other.Period = calendar.Week
	s := prepaid(t).Given(events.PeriodDue{
		SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: second, Ordinal: 2, Terms: other,
		From: noon(2, 28), To: noon(3, 7), At: noon(2, 28),
	})
	s.SurvivesClosing()
	closed, _ := subscribers.Subscriptions().Close(s.State()).(events.SubscriptionPeriodClosed)
	if closed.SubscriptionID != subscription || closed.SubscriberID != subscriber ||
		!closed.Username.Equal(personal.Of("jane")) {
		t.Errorf("closed %+v", closed)
	}
}

func TestReopened_TheFirstFormPutsAPauseIntoTheLastPaidMonth(t *testing.T) {
	t.Parallel()
	a, b := id.Derive[id.Invoice]("old", "a"), id.Derive[id.Invoice]("old", "b")
	span := func(from, to time.Time) map[string]any { return map[string]any{"From": from, "To": to} }
	for name, c := range map[string]struct {
		paid   map[id.Invoice]any
		until  time.Time // of the opening
		anchor int
		next   time.Time // end of the month that is paid next
	}{
		"five days in the only month": {
			map[id.Invoice]any{a: span(noon(1, 15), noon(2, 15))}, noon(2, 20), 20, noon(3, 20),
		},
		"five days before the second month was paid": {
			map[id.Invoice]any{a: span(noon(1, 15), noon(2, 15)), b: span(noon(2, 20), noon(3, 20))}, noon(3, 20), 20,
			noon(4, 20),
		},
		"five days after the second month was paid": {
			map[id.Invoice]any{a: span(noon(1, 15), noon(2, 15)), b: span(noon(2, 15), noon(3, 15))}, noon(3, 20), 20,
			noon(4, 20),
		},
		"no day": {map[id.Invoice]any{a: span(noon(1, 31), noon(2, 28))}, noon(2, 28), 31, noon(3, 31)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := decidertest.For(t, aggregate(), noon(2, 1)).Given(firstForm(t, events.Prepaid, map[string]any{
				"PaidUntil": c.until, "AnchorDay": c.anchor, "LastTo": c.until, "Paid": c.paid,
			}))
			if until := s.State().PaidUntil(); !until.Equal(c.until) {
				t.Fatalf("paid until %s, want %s", until, c.until)
			}
			s.SurvivesClosing()
			made := s.When(due).ThenEvents()
			next, _ := made[0].(events.PeriodDue)
			until, from, _ := told(t, s.When(paid(next.InvoiceID, noon(2, 1))).ThenEvents(), next.InvoiceID)
			if !from.Equal(c.until) || !until.Equal(c.next) {
				t.Errorf("the next month lies from %s to %s, want %s", from, until, c.next)
			}
		})
	}
}

// secondForm is an opening of the form that was written before the time of day of anniversaries was kept: of two months
// from 24 March 2026, 00:30 in Cairo, of which the first ended in the skipped hour, with a pause of two days in the
// second and one that is under way since 1 June.
const secondForm = `{"form":2,"subscription":%q,"org":%q,"subscriber":%q,"planVersion":3,
	"terms":{"name":"Home 10","mode":"prepaid","period":"month","price":{"minor":150000,"currency":"KES"}},
	"timezone":"Africa/Cairo","startsAt":"2026-03-23T22:30:00Z","state":"paused","pausedAt":"2026-06-01T09:00:00Z",
	"base":{"ordinal":1,"end":"2026-04-23T22:30:00Z","anchor":24,"paidUntil":"2026-04-23T22:30:00Z"},
	"periods":[{"n":2}],"gaps":[{"from":"2026-05-01T09:00:00Z","to":"2026-05-03T09:00:00Z"}],
	"latest":"2026-06-01T09:00:00Z"}`

func TestReopened_AnOpeningWithoutTheTimeOfAnniversariesKeepsItsPlacesAndPauses(t *testing.T) {
	t.Parallel()
	zone := cairo(t)
	s := decidertest.For(t, aggregate(), time.Date(2026, time.June, 2, 9, 0, 0, 0, time.UTC)).
		Given(events.SubscriptionPeriodClosed{
			SubscriptionID: subscription, SubscriberID: subscriber, Username: personal.Of("jane"),
			Opening: fmt.Appendf(nil, secondForm, subscription, org, subscriber),
		})
	told := time.Date(2026, time.May, 26, 1, 30, 0, 0, zone) // as the program of then said, two days for the pause
	if until := s.State().PaidUntil(); !until.Equal(told) {
		t.Errorf("paid until %s", until.In(zone))
	}
	s.SurvivesClosing()
	s.When(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "back"}).ThenEvents()
	gaps := s.State().Gaps
	if len(gaps) != 2 || !gaps[1].From.Equal(time.Date(2026, time.June, 1, 9, 0, 0, 0, time.UTC)) {
		t.Errorf("gaps %v", gaps)
	}
	if until := s.State().PaidUntil(); !until.Equal(told) { // the second pause came after it
		t.Errorf("after the pause paid until %s", until.In(zone))
	}
}

// TestReopened_AnOpeningThatDoesNotTellWhoRetakesFindsIt: the third month is in the place of the second, which an undo
// took back after it was used, so nothing waits any more.
func TestReopened_AnOpeningThatDoesNotTellWhoRetakesFindsIt(t *testing.T) {
	t.Parallel()
	const opening = `{"form":4,"subscription":%q,"org":%q,"subscriber":%q,"planVersion":3,
	"terms":{"name":"Home 10","mode":"prepaid","period":"month","price":{"minor":150000,"currency":"KES"}},
	"timezone":"UTC","startsAt":"2026-01-31T09:00:00Z","state":"active",
	"base":{"ordinal":1,"end":"2026-02-28T09:00:00Z","anchor":31,"paidUntil":"2026-02-28T09:00:00Z"},
	"periods":[{"n":2,"state":"cancelled","undone":true,"used":true},{"n":3%s}],"latest":"2026-03-22T09:00:00Z"}`
	for state, until := range map[string]time.Time{
		"":               time.Date(2026, time.March, 31, 9, 0, 0, 0, time.UTC),
		`,"state":"due"`: time.Date(2026, time.February, 28, 9, 0, 0, 0, time.UTC),
	} {
		s := decidertest.For(t, aggregate(), noon(3, 22)).Given(events.SubscriptionPeriodClosed{
			SubscriptionID: subscription, SubscriberID: subscriber,
			Opening: fmt.Appendf(nil, opening, subscription, org, subscriber, state),
		})
		waiting := s.State().Course().Waiting
		if got := s.State().PaidUntil(); !got.Equal(until) || len(waiting) > 0 || !s.State().Periods[1].Retakes {
			t.Errorf("paid until %s, %v wait, %+v", got, waiting, s.State().Periods)
		}
	}
}
