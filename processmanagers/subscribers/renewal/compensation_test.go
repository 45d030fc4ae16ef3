package renewal_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestCompensated_MovesTheNextPeriodAndCreditsWhatIsGivenInMoney: days move the timer of the next period, money is a
// credit note that says for which days it is, and one that is refused is asked for again with the same amount.
func TestCompensated_MovesTheNextPeriodAndCreditsWhatIsGivenInMoney(t *testing.T) {
	t.Parallel()
	s := after(t, created(line, events.Prepaid, 50, calendar.Day), due(line, inv1), extended(line, inv1, until))
	of := id.Derive[id.Compensation]("test", "of")
	later := until.Add(48 * time.Hour)
	out := s.When(events.SubscriptionCompensated{
		SubscriptionID: line, SubscriberID: who, Days: 2, PaidUntil: later, At: start,
	}).Output()
	if len(out.Timers) != 1 || !out.Timers[0].At.Equal(later.Add(-events.InvoicedAhead(calendar.Day))) {
		t.Errorf("timers %+v", out.Timers)
	}
	out = s.When(events.SubscriptionCompensated{
		SubscriptionID: line, SubscriberID: who, CompensationID: of, PaidUntil: later, At: start,
		FirstDay: calendar.Date{Year: 2026, Month: 3, Day: 1}, LastDay: calendar.Date{Year: 2026, Month: 3, Day: 2},
		Credits: []events.DaysCredit{{InvoiceID: inv1, Days: 1, Of: 1, Amount: kes(200), KeepsPeriod: true}},
	}).Output()
	want := commands.CreditDays{
		SubscriberID: who,
		DaysCredit:   events.DaysCredit{InvoiceID: inv1, Days: 1, Of: 1, Amount: kes(200), KeepsPeriod: true},
		CreditNoteID: id.Derive[id.Receipt]("compensation", of.String(), inv1.String(), line.String()),
		Reason:       "compensation for 2026-03-01 to 2026-03-02",
	}
	if len(out.Commands) != 1 || out.Commands[0] != commands.Command(want) {
		t.Errorf("got %+v, want %+v", out.Commands, want)
	}
	again := s.WhenRefused(want, "invoice_not_issued").WhenDue("again", start.Add(time.Hour)).Output()
	if len(again.Commands) != 1 || again.Commands[0] != commands.Command(want) {
		t.Errorf("again %+v, want %+v", again.Commands, want)
	}
}
