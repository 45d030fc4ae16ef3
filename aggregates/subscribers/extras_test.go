package subscribers_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// extra asks for an extra that is named by its description.
func extra(kind events.ExtraKind, name string, shillings int64) commands.AddExtra {
	c := commands.AddExtra{
		SubscriptionID: subscription, Description: personal.Of(name),
		Extra: events.Extra{
			ID: id.Derive[id.Extra]("test", name), Kind: kind, Amount: money.Major(shillings, money.KES),
		},
	}
	if kind == events.ChargeExtra {
		c.Extra.Periods = 1
	}
	return c
}

// percent asks for a discount by percent.
func percent(name string, whole int64) commands.AddExtra {
	c := extra(events.DiscountExtra, name, 0)
	c.Extra.Amount, c.Extra.BasisPoints = money.Amount{}, 100*whole
	return c
}

// adds adds an extra that is accepted.
func adds(t *testing.T, s *scenario, c commands.AddExtra) {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if made := s.When(c).ThenEvents(); len(made) != 1 {
		t.Fatalf("made %+v", made)
	}
}

// dueLines makes the next period due, and tells its lines by the names of extras, in shillings.
func dueLines(t *testing.T, s *scenario) map[string]int64 {
	t.Helper()
	lines := map[string]int64{}
	for _, e := range s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents() {
		due, ok := e.(events.PeriodDue)
		if !ok {
			continue
		}
		for _, x := range due.Extras {
			lines[s.State().ExtraCalled(x.ID)] = x.Amount.Minor / 100
		}
		lines[""] = due.Net().Minor / 100
	}
	return lines
}

// wants compares lines.
func wants(t *testing.T, what string, got, want map[string]int64) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

func TestExtras_AreOnTheInvoicesThatComeAfterThem(t *testing.T) {
	t.Parallel()
	s := paidMonth(t)
	adds(t, s, extra(events.ChargeExtra, "cable", 700))
	adds(t, s, extra(events.AddOnExtra, "address", 300))
	twice := percent("welcome", 50)
	twice.Extra.Periods = 2
	adds(t, s, twice)
	wants(t, "February", dueLines(t, s), map[string]int64{"cable": 700, "address": 300, "welcome": -750, "": 1750})
	s.When(paid(second, now.AddDate(0, 0, 20))).ThenEvents()
	wants(t, "March", dueLines(t, s), map[string]int64{"address": 300, "welcome": -750, "": 1050})
	s.When(paid(third, now.AddDate(0, 0, 50))).ThenEvents()
	s.When(commands.RemoveExtra{
		SubscriptionID: subscription, ExtraID: extra(events.AddOnExtra, "address", 0).Extra.ID, Kind: events.AddOnExtra,
	}).ThenEvents()
	wants(t, "April", dueLines(t, s), map[string]int64{"": 1500})
	s.When(commands.RemoveExtra{
		SubscriptionID: subscription, ExtraID: extra(events.ChargeExtra, "cable", 0).Extra.ID, Kind: events.AddOnExtra,
	}).ThenFails("extra_not_found")
}

func TestExtras_DiscountsTakeOffThePlanAtMostAndEndOnTheirDay(t *testing.T) {
	t.Parallel()
	s := paidMonth(t)
	adds(t, s, extra(events.AddOnExtra, "address", 300))
	last := percent("March at most", 80)
	last.Extra.Until = calendar.Date{Year: 2026, Month: time.February, Day: 28}
	adds(t, s, last)
	adds(t, s, extra(events.DiscountExtra, "friend", 500))
	// the period begins on 28 February: 1,200 and what is left of 1,500
	wants(t, "on the last day", dueLines(t, s),
		map[string]int64{"address": 300, "March at most": -1200, "friend": -300, "": 300})
	s.When(paid(second, now.AddDate(0, 0, 20))).ThenEvents()
	wants(t, "the day after", dueLines(t, s), map[string]int64{"address": 300, "friend": -500, "": 1300})
	over := percent("too late", 10)
	over.Extra.Until = calendar.Date{Year: 2026, Month: time.January, Day: 30}
	s.When(over).ThenFails("invalid_input")
}

// With a billing day the first period is a part of a month: recurring extras are too, and a charge is whole.
func TestExtras_OfAPartAreItsShareAndThoseOfTheCreationAreOnTheFirstInvoice(t *testing.T) {
	t.Parallel()
	c := create(events.Prepaid)
	c.Terms.AnchorDay = 10
	c.Extras = []commands.AddExtra{
		extra(events.ChargeExtra, "installation", 2000), extra(events.AddOnExtra, "address", 310), percent("half", 50),
	}
	s := decidertest.For(t, aggregate(), now).When(c)
	for _, e := range s.ThenEvents() {
		if due, ok := e.(events.PeriodDue); ok { // 10 of 31 days: 483.87, of it half, and 100
			want := []int64{2000_00, 100_00, -241_94}
			for i, x := range due.Extras {
				if x.Amount.Minor != want[i] {
					t.Errorf("extra %d is %s", i, x.Amount)
				}
			}
			if len(due.Extras) != len(want) || due.Net().Minor != 2000_00+100_00+483_87-241_94 {
				t.Errorf("due %+v", due)
			}
		}
	}
	if again := decidertest.For(t, aggregate(), now).When(c).ThenEvents(); len(again) != 5 {
		t.Errorf("made %d events", len(again))
	}
}

// A change of plan replaces an unpaid invoice: what was on it is on the new one. A void drops its charge.
func TestExtras_OfAReplacedInvoiceAreOnTheNextOne(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	adds(t, s, extra(events.ChargeExtra, "cable", 700))
	thrice := percent("welcome", 10)
	thrice.Extra.Periods = 1
	adds(t, s, thrice)
	_, made := changes(t, s, sold("big", 2000, events.Prepaid), now)
	replaced, _ := made[len(made)-1].(events.PeriodDue)
	if replaced.Ordinal != 2 || replaced.Net().Minor != 2500_00 {
		t.Fatalf("made %+v", made)
	}
	_, made = changes(t, s, sold("small", 1000, events.Prepaid), now)
	again, _ := made[len(made)-1].(events.PeriodDue)
	if again.Ordinal != 3 || again.Net().Minor != 1600_00 {
		t.Fatalf("made %+v", made)
	}
	s.When(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: third}).ThenEvents()
	wants(t, "after the void", dueLines(t, s), map[string]int64{"welcome": -100, "": 900})
}

// A charge that was given back by a credit note is removed: the invoice that takes the place of its own is without it.
func TestExtras_ARemovedChargeComesOnNoOtherInvoice(t *testing.T) {
	t.Parallel()
	s := paidMonth(t)
	cable := extra(events.ChargeExtra, "cable", 700)
	adds(t, s, cable)
	wants(t, "February", dueLines(t, s), map[string]int64{"cable": 700, "": 2200})
	s.When(commands.RemoveExtra{
		SubscriptionID: subscription, ExtraID: cable.Extra.ID, Kind: events.ChargeExtra,
	}).ThenEvents()
	_, made := changes(t, s, sold("big", 2000, events.Prepaid), now)
	if again, _ := made[len(made)-1].(events.PeriodDue); len(again.Extras) != 0 || again.Ordinal != 3 {
		t.Errorf("made %+v", made)
	}
}

// What is dropped after the end has no other invoice: its charge goes with it.
func TestExtras_AfterTheEndAChargeGoesWithItsInvoice(t *testing.T) {
	t.Parallel()
	s := paidMonth(t)
	adds(t, s, extra(events.ChargeExtra, "cable", 700))
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	s.When(paid(second, now)).ThenEvents()
	s.When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moves"}).ThenEvents()
	s.When(commands.WithdrawPeriod{SubscriptionID: subscription, InvoiceID: second, Reason: "x"}).ThenEvents()
	if left := s.State().Extras.Waiting(); len(left) != 0 {
		t.Errorf("%+v waits for ever", left)
	}
}

// Of an extra that has been on many periods the newest are known, and its number is counted on.
// A postpaid month is made two months late, after its stream was closed: what held on its first day is on it.
func TestExtras_OfALatePeriodAreKeptByACloseOfTheStream(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	last := percent("February", 10)
	last.Extra.Until = calendar.Date{Year: 2026, Month: time.February, Day: 28}
	adds(t, s, last)
	late := now.AddDate(0, 2, 0)
	s.At(late)
	adds(t, s, extra(events.AddOnExtra, "address", 300)) // so that the stream knows how late it is
	closed := subscribers.Subscriptions().Close(s.State())
	again := subscribers.Subscriptions().Evolve(subscribers.Subscription{}, closed)
	due, err := subscribers.Subscriptions().Decide(again, commands.MakePeriodDue{SubscriptionID: subscription}, late)
	if err != nil {
		t.Fatal(err)
	}
	whole := s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	if diff := cmp.Diff(whole, due); diff != "" || len(due) == 0 {
		t.Errorf("(-whole +closed)\n%s", diff)
	}
}

func TestExtras_CountOnWhenThereAreMany(t *testing.T) {
	t.Parallel()
	held := events.Extras{{Extra: events.Extra{ID: id.Derive[id.Extra]("test", "x"), Periods: 100}}}
	for n := range 100 {
		if held[0].Over() {
			t.Fatalf("over after %d", n)
		}
		held = held.After(events.PeriodDue{Ordinal: n + 1, Extras: []events.PeriodExtra{{ID: held[0].ID}}})
	}
	if h := held[0]; !h.Over() || len(h.On) != events.ExtraPeriods || h.Before+len(h.On) != 100 {
		t.Errorf("held %+v", h)
	}
}

func TestExtras_AnEndInvoicesTheChargesThatNoPeriodHas(t *testing.T) {
	t.Parallel()
	ended := func(s *scenario) events.ChargesDue {
		t.Helper()
		made := s.When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moves"}).ThenEvents()
		last, _ := made[len(made)-1].(events.ChargesDue)
		return last
	}
	s := paidMonth(t)
	adds(t, s, extra(events.ChargeExtra, "cable", 700))
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents() // never paid, and cancelled by the end
	adds(t, s, extra(events.ChargeExtra, "visit", 200))
	adds(t, s, extra(events.AddOnExtra, "address", 300))
	if end := ended(s); len(end.Charges) != 2 || end.InvoiceID.IsZero() || end.OrgID != org {
		t.Errorf("the end: %+v", end)
	}
	s.When(extra(events.ChargeExtra, "late", 1)).ThenFails("subscription_ended")
	never := prepaid(t)
	adds(t, never, extra(events.ChargeExtra, "cable", 700))
	if end := ended(never); len(end.Charges) != 0 || !end.InvoiceID.IsZero() {
		t.Errorf("it never had service: %+v", end)
	}
}

func TestExtras_APercentageIsOffAnUpgradeToo(t *testing.T) {
	t.Parallel()
	s := paidMonth(t)
	adds(t, s, percent("half", 50))
	at := now.AddDate(0, 0, 14) // 14 of 28 days are left: 1,000 less 750
	change := look(t, s, sold("big", 2000, events.Prepaid), at)
	if len(change.Lines) != 3 || change.Lines[2].Amount.Minor != -125_00 || change.Lines[2].Percent != 5000 {
		t.Errorf("lines %+v", change.Lines)
	}
}

func TestExtras_AreBounded(t *testing.T) {
	t.Parallel()
	s := paidMonth(t)
	for i := range commands.MaxExtras {
		adds(t, s, extra(events.AddOnExtra, string(rune('a'+i)), 1))
	}
	s.When(extra(events.AddOnExtra, "one more", 1)).ThenFails("too_many_extras")
	s.When(extra(events.AddOnExtra, "a", 1)).ThenNothing() // a repeat
	foreign := extra(events.AddOnExtra, "dollars", 1)
	foreign.Extra.Amount = money.Major(1, "USD")
	paidMonth(t).When(foreign).ThenFails("currency_mismatch")
	for name, c := range map[string]commands.AddExtra{
		"no text": extra(events.ChargeExtra, " ", 1), "nothing": extra(events.ChargeExtra, "x", 0),
		"negative": extra(events.DiscountExtra, "x", -5), "more than all": percent("x", 101),
	} {
		if err := c.Validate(); failure.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A life with extras is decided alike by a state that is closed and opened again and again, and no charge is on two
// invoices or on none.
func TestExtras_EachChargeIsInvoicedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		p := begin(r, rapid.SampledFrom([]events.BillingMode{events.Prepaid, events.Postpaid}).Draw(r, "mode"))
		for n := range rapid.IntRange(1, 30).Draw(r, "steps") {
			switch rapid.IntRange(0, 6).Draw(r, "step") {
			case 0:
				p.do(extra(events.ChargeExtra, string(rune('A'+n)), 10))
			case 1:
				p.do(extra(events.AddOnExtra, string(rune('A'+n)), 10))
			case 2:
				p.do(commands.MakePeriodDue{SubscriptionID: subscription})
			case 3:
				if invoice, ok := p.one(p.inState(subscribers.PeriodDue)); ok {
					p.do(paid(invoice, p.at))
				}
			case 4:
				p.pass(time.Duration(rapid.IntRange(1, 30).Draw(r, "hours")) * time.Hour)
			case 5:
				if change, err := p.s.PlanChange(dearer(p.s), p.at); err == nil {
					p.do(commands.ChangePlan{
						SubscriptionID: subscription, NewPlan: dearer(p.s), Preview: change.Preview,
					})
				}
			case 6:
				if rapid.IntRange(0, 9).Draw(r, "end") == 0 {
					p.do(commands.EndSubscription{SubscriptionID: subscription, Reason: "moves"})
				}
			}
		}
		charged := p.charged()
		for _, h := range p.s.Extras {
			if h.Kind == events.ChargeExtra && charged[h.ID] > 1 || p.s.State == subscribers.Ended && !h.Over() &&
				h.Kind == events.ChargeExtra && p.until.After(time.Time{}) {
				r.Fatalf("charge %s is on %d invoices", p.s.ExtraCalled(h.ID), charged[h.ID])
			}
		}
	})
}

// beside adds an extra of any kind, sometimes.
func (p *played) beside(n int) {
	name := string(rune('A' + n))
	c := extra(events.AddOnExtra, name, 7)
	switch rapid.IntRange(0, 5).Draw(p.r, "extra") {
	case 0:
		c = extra(events.ChargeExtra, name, 100)
	case 1:
		c.Extra.Periods = rapid.IntRange(0, 3).Draw(p.r, "periods")
	case 2:
		c = percent(name, rapid.Int64Range(1, 100).Draw(p.r, "percent"))
		c.Extra.Periods = rapid.IntRange(0, 3).Draw(p.r, "periods")
	case 3:
		c = extra(events.DiscountExtra, name, 999)
		c.Extra.Until = calendar.On(p.at, time.UTC).AddDays(rapid.IntRange(1, 60).Draw(p.r, "days"))
	default:
		return
	}
	p.do(c)
}

// charged counts the invoices that each charge is on.
func (p *played) charged() map[id.Extra]int {
	charged := map[id.Extra]int{}
	for _, e := range p.recorded {
		switch e := e.(type) {
		case events.PeriodDue:
			for _, x := range e.Extras {
				charged[x.ID]++
			}
		case events.ChargesDue:
			for _, x := range e.Charges {
				charged[x.ID]++
			}
		case events.PeriodCancelled:
			if e.ReturnsExtras() && !e.DropsCharges {
				for _, due := range p.recorded {
					if d, ok := due.(events.PeriodDue); ok && d.Ordinal == e.Ordinal {
						for _, x := range d.Extras {
							charged[x.ID]--
						}
					}
				}
			}
		default: // the others have no charges
		}
	}
	return charged
}

// dearer is a version that costs more than the present one.
func dearer(s subscribers.Subscription) commands.NewPlan {
	to := commands.NewPlan{PlanID: s.PlanID, Version: s.PlanVersion + 1, Terms: s.Terms}
	to.Terms.Price = to.Terms.Price.Add(money.Major(100, money.KES))
	return to
}
