package billingcases

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// usedDays is a life by whole days, at noon, of a customer with a billing day.
type usedDays struct {
	worked
	random *rand.Rand
	off    map[calendar.Date]bool // days without service
	did    []string
}

// TestUsedDays_AreWhatIsCharged: with a billing day, service is paused, and cut off, at random. Whatever the order, the
// customer is charged the price of the days on which there was service, to half a shilling for the rounding.
func TestUsedDays_AreWhatIsCharged(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		l := newUsedDays(t, seed)
		first := calendar.On(l.at, nairobi)
		for range 12 {
			l.acts()
		}
		l.until(l.at.Add(time.Second))
		end := calendar.On(l.at, nairobi)
		if l.line.Terms.Mode == events.Prepaid && l.line.PaidUntil().After(l.at) { // what is paid is not given back
			end = calendar.On(l.line.PaidUntil(), nairobi)
		}
		l.does(commands.EndSubscription{SubscriptionID: l.line.ID, Reason: "moves"})
		l.until(l.at.AddDate(0, 0, 3))
		if want, got := l.price(first, end), l.charged(); math.Abs(want-float64(got.Minor)) > 50 {
			t.Fatalf("seed %d, %s: charged %s, the used days cost %.2f\n%s", seed, l.line.Terms.Mode, got, want/100,
				strings.Join(l.did, "\n"))
		}
	}
}

// newUsedDays begins with a prepaid customer who has credit, or with a postpaid one who pays for used days only.
func newUsedDays(t *testing.T, seed uint64) *usedDays {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 77))
	mode := []events.BillingMode{events.Prepaid, events.Postpaid}[random.IntN(2)]
	plan := terms(mode, []int{1, 15, 28}[random.IntN(3)])
	if mode == events.Postpaid {
		plan.BillWhileSuspended = events.BillUsedDays
	}
	l := &usedDays{worked: sold(t, plan), random: random, off: map[calendar.Date]bool{}}
	if mode == events.Prepaid {
		l.pays(money.Major(1_000_000, money.KES))
	}
	return l
}

// acts waits some days, or pauses service for some, or changes whether the customer is cut off.
func (l *usedDays) acts() {
	l.until(l.at.Add(time.Second)) // nothing happens at the instant of a run
	switch n := l.random.IntN(6); {
	case n < 3:
		l.waits(1+l.random.IntN(25), !l.line.Suspended.IsZero())
	case n < 5 && l.line.Suspended.IsZero():
		l.does(commands.PauseSubscription{SubscriptionID: l.line.ID, Reason: "travels"})
		l.waits(1+l.random.IntN(40), true)
		l.does(commands.ResumeSubscription{SubscriptionID: l.line.ID, Reason: "is back"})
	case l.line.Terms.Mode != events.Postpaid:
	case l.line.Suspended.IsZero():
		l.does(commands.SuspendBilling{SubscriptionID: l.line.ID, At: l.at})
	default:
		l.does(commands.ResumeBilling{SubscriptionID: l.line.ID, At: l.at})
	}
}

// waits lets days pass, with service or without.
func (l *usedDays) waits(days int, off bool) {
	l.did = append(l.did, fmt.Sprintf("%s: %d days, without service: %v", calendar.On(l.at, nairobi), days, off))
	for range days {
		l.off[calendar.On(l.at, nairobi)] = off
		l.until(l.at.AddDate(0, 0, 1))
	}
}

// price is that of the days with service, each as one of its billing month.
func (l *usedDays) price(first, end calendar.Date) (sum float64) {
	for d := first; d.Before(end); d = d.AddDays(1) {
		if !l.off[d] {
			month := calendar.BillingMonthAt(d.Start(nairobi), l.line.Terms.AnchorDay, nairobi)
			sum += float64(l.line.Terms.Price.Minor) / float64(month.Days())
		}
	}
	return sum
}

// charged sums up the invoices that stand, less the credit notes.
func (l *usedDays) charged() money.Amount {
	sum := money.Of(0, money.KES)
	for _, i := range l.invoices {
		if _, voided := l.account.Voided[i.InvoiceID]; !voided {
			sum = sum.Add(i.Total)
		}
	}
	for _, n := range l.notes {
		sum = sum.Sub(n.Amount)
	}
	return sum
}
