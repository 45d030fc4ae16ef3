package renewal_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// onFifth is a prepaid subscription of 1,500 shillings a month, billed on the fifth day, in Nairobi.
func onFifth() events.Event {
	return events.SubscriptionCreated{
		SubscriptionID: line, SubscriberID: who, StartsAt: start, Timezone: "Africa/Nairobi",
		Terms: events.PlanTerms{Mode: events.Prepaid, Price: kes(1500), Period: calendar.Month, AnchorDay: 5},
	}
}

// Until 5 March there are three days of 28 left on 2 March: 160.71 shillings pay them.
func TestBillingDay_CreditThatCoversThePartRenews(t *testing.T) {
	t.Parallel()
	renews := does(commands.MakePeriodDue{SubscriptionID: line})
	asked := func(minor int64) events.Event {
		return events.CreditLeft{SubscriberID: who, Credit: money.Of(minor, money.KES), Asked: true}
	}
	s := after(t, onFifth())
	s.When(asked(160_70)).ThenNothing()
	s.When(asked(160_71)).Then(renews)
	// the invoice of a part tells the price with tax on top: 16 percent of 160.71 are 25.71
	part := events.PeriodDue{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Part: events.PartPeriod{Days: 3, Of: 28},
		Charge: money.Of(160_71, money.KES),
	}
	withTax := after(t, onFifth(), part, taxed(line, inv1, part.Charge), events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1,
	})
	withTax.When(asked(160_71)).ThenNothing()
	withTax.When(asked(186_42)).Then(renews)
	// a part that is rounded up makes no month dearer: 1 of 31 days of 1,000 costs 32.26
	rounded := events.PeriodDue{
		SubscriptionID: line2, SubscriberID: who, InvoiceID: inv2, Part: events.PartPeriod{Days: 1, Of: 31},
		Charge: money.Of(32_26, money.KES),
	}
	s = after(t, created(line2, events.Prepaid, 1000, calendar.Month), rounded, events.InvoiceDrafted{
		SubscriberID: who, InvoiceID: inv2, SubscriptionID: line2, Total: money.Of(32_26, money.KES),
	}, events.PeriodCancelled{SubscriptionID: line2, SubscriberID: who, InvoiceID: inv2, Ordinal: 1})
	s.When(asked(1000_00)).Then(does(commands.MakePeriodDue{SubscriptionID: line2}))
}

// The tax of a part, 1.85 on 11.54, is 16.03 percent of it; that of a month is 16 percent all the same.
func TestBillingDay_TheTaxOfAPartMakesNoMonthDearer(t *testing.T) {
	t.Parallel()
	part := events.PeriodDue{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Part: events.PartPeriod{Days: 1, Of: 31},
		Charge: money.Of(11_54, money.KES),
	}
	s := after(t, prepaid(line), part, taxed(line, inv1, part.Charge), extended(line, inv1, until))
	cents := func(minor int64) events.Event {
		return events.CreditLeft{SubscriberID: who, Credit: money.Of(minor, money.KES)}
	}
	s.When(cents(1739_99)).ThenNothing()
	s.When(cents(1740_00)).Then(does(commands.MakePeriodDue{SubscriptionID: line}))
}

func TestBillingDay_DaysThatAreNotPaidBecomeCreditNotes(t *testing.T) {
	t.Parallel()
	at := start.Add(time.Hour)
	unused := []events.DaysCredit{{InvoiceID: inv1, Days: 3, Of: 28}}
	note := func(reason string) commands.CreditDays {
		return commands.CreditDays{
			SubscriberID: who, DaysCredit: unused[0], Reason: reason,
			CreditNoteID: id.Derive[id.Receipt]("days", inv1.String(), at.Format(time.RFC3339Nano)),
		}
	}
	with := func(out processmanagers.Output, c commands.Command) processmanagers.Output {
		out.Commands = append(out.Commands, c)
		return out
	}
	s := after(t, onFifth(), due(line, inv1), extended(line, inv1, until))
	s.When(events.SubscriptionResumed{
		SubscriptionID: line, SubscriberID: who, PaidUntil: until, Credits: unused, At: at,
	}).Then(with(leaves(line), note("days of a pause")))
	s.When(events.SubscriptionExtended{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, PaidUntil: until, Credits: unused, PaidAt: at,
	}).Then(with(leaves(line), note("days before the payment, without service")))
	s.When(events.SubscriptionEnded{SubscriptionID: line, SubscriberID: who, Credits: unused, At: at}).
		Then(with(disarmed(line), note("subscription ended")))
}

// TestBillingDay_OfAnInvoiceForTwoPeriodsThatArePaidAtOnceBothAreCredited: the notes have an id each. Events of older
// programs do not tell the period, and keep the id that their note has.
func TestBillingDay_OfAnInvoiceForTwoPeriodsThatArePaidAtOnceBothAreCredited(t *testing.T) {
	t.Parallel()
	upgrade, at := id.Derive[id.Invoice]("upgrade"), start.Add(time.Hour)
	s := after(t, onFifth(), due(line, inv1), extended(line, inv1, until))
	notes := map[id.Receipt]bool{}
	for _, period := range []id.Invoice{{}, inv1, inv2} {
		s = s.When(events.SubscriptionExtended{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, PaidUntil: until, PaidAt: at,
			Credits: []events.DaysCredit{{InvoiceID: upgrade, Days: 1, Of: 2, PeriodOf: period}},
		})
		for _, c := range s.Output().Commands {
			if c, ok := c.(commands.CreditDays); ok {
				notes[c.CreditNoteID] = true
			}
		}
	}
	if old := id.Derive[id.Receipt]("days", upgrade.String(), at.Format(time.RFC3339Nano)); len(notes) != 3 ||
		!notes[old] {
		t.Errorf("notes %v, want three with %s", notes, old)
	}
}

// TestBillingDay_DaysThatWerePausedBeforeAPeriodBecameDueAreCreditedBesideThoseOfAnEnd, which makes it due at its own
// instant.
func TestBillingDay_DaysThatWerePausedBeforeAPeriodBecameDueAreCreditedBesideThoseOfAnEnd(t *testing.T) {
	t.Parallel()
	paused := events.DaysCredit{InvoiceID: inv1, Days: 10, Of: 31}
	left := events.DaysCredit{InvoiceID: inv1, Days: 7, Of: 31}
	notes := map[id.Receipt]events.DaysCredit{}
	s := after(t, created(line, events.Postpaid, 1500, calendar.Month))
	for _, e := range []events.Event{
		events.PeriodDue{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, From: start, To: until,
			Credits: []events.DaysCredit{paused}, At: start,
		},
		events.SubscriptionEnded{
			SubscriptionID: line, SubscriberID: who, Credits: []events.DaysCredit{left}, At: start,
		},
	} {
		s = s.When(e)
		for _, c := range s.Output().Commands {
			if c, ok := c.(commands.CreditDays); ok {
				notes[c.CreditNoteID] = c.DaysCredit
			}
		}
	}
	if days := slices.Collect(maps.Values(notes)); len(days) != 2 || !slices.Contains(days, paused) ||
		!slices.Contains(days, left) {
		t.Errorf("credit notes %v", notes)
	}
}

// Two periods of one invoice over a change of plan can be dropped at the same instant.
func TestCancelled_DaysOfAnUpgradeAreCreditedForEachPeriod(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), due(line, inv1), extended(line, inv1, until))
	unused := events.DaysCredit{InvoiceID: inv2, Days: 30, Of: 30, Net: kes(100), NetOf: kes(250)}
	notes := map[id.Receipt]bool{}
	for _, period := range []id.Invoice{inv1, id.Derive[id.Invoice]("test", "another")} {
		out := s.When(events.PeriodCancelled{
			SubscriptionID: line, SubscriberID: who, InvoiceID: period, NeverBegan: true,
			Credits: []events.DaysCredit{unused}, At: start,
		}).Output()
		for _, c := range out.Commands {
			if c, ok := c.(commands.CreditDays); ok && c.DaysCredit == unused {
				notes[c.CreditNoteID] = true
			}
		}
	}
	if len(notes) != 2 {
		t.Errorf("credit notes %v", notes)
	}
}

// The invoice may not be issued yet. The credit note is asked for again, unless the invoice is given back whole.
func TestBillingDay_ARefusedCreditNoteIsAskedForAgain(t *testing.T) {
	t.Parallel()
	note := commands.CreditDays{
		SubscriberID: who, DaysCredit: events.DaysCredit{InvoiceID: inv1, Days: 3, Of: 28}, Reason: "days of a pause",
		CreditNoteID: id.Derive[id.Receipt]("test", "note"),
	}
	note.Net, note.NetOf = kes(100), kes(250)
	s := after(t, onFifth()).WhenRefused(note, "invoice_not_issued")
	s.Then(processmanagers.Output{Timers: []processmanagers.Timer{{Name: "again", At: start.Add(time.Minute)}}})
	s.WhenDue("again", start).Then(does(note))
	given := after(t, onFifth()).WhenRefused(note, "invoice_not_issued").
		When(events.InvoiceCancelled{SubscriberID: who, InvoiceID: inv1})
	given.WhenDue("again", start).ThenNothing()
}

// TestBillingDay_AUsedMonthThatAnUndoTookBackIsRenewedByItsPrice, not by that of the days up to the billing day.
func TestBillingDay_AUsedMonthThatAnUndoTookBackIsRenewedByItsPrice(t *testing.T) {
	t.Parallel()
	place := time.Date(2026, time.February, 4, 21, 0, 0, 0, time.UTC) // 5 February in Nairobi
	s := after(t, onFifth(), due(line, inv1), extended(line, inv1, place.AddDate(0, 0, 28)), events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, PaidUntil: place,
		UndoneRun: id.New[id.BillingRun](), NextFrom: place, At: start,
	})
	left := func(minor int64) events.Event {
		return events.CreditLeft{SubscriberID: who, Credit: money.Of(minor, money.KES), Received: true}
	}
	s.When(left(1499_99)).ThenNothing()
	s.When(left(1500_00)).Then(does(commands.MakePeriodDue{SubscriptionID: line, Received: true}))
	another := place.AddDate(0, 0, 28) // another month waits since an undo
	s = s.When(events.PeriodDue{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, Retakes: true, NextFrom: another,
	}).When(extended(line, inv2, another))
	s.When(left(1499_99)).ThenNothing()
	s.When(left(1500_00)).Then(does(commands.MakePeriodDue{SubscriptionID: line, Received: true}))
}
