package billingcases

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// servedLives is how many random lives of each kind are measured.
const servedLives = 150

// served is a life of which the time is measured that its services really gave.
type served struct {
	*life
	kind  string
	since map[*subscribers.Subscription]time.Time // of the last look
	given map[*subscribers.Subscription]time.Duration
	moved int // times at which a place may be moved by a part of a day
}

// TestLives_TheTimeThatIsServedIsTheTimeThatWasPaid: payments, their reversals, undone runs, pauses and given days come
// in any order, and the customer gets the time of the periods that are paid: to the second where periods have their own
// beginning, and but for the days in which something happened where they end on a billing day. No invoice gives back
// more days than it has.
func TestLives_TheTimeThatIsServedIsTheTimeThatWasPaid(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"plain", "parts", "given", "day"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(servedLives) {
				s := newServed(t, seed, kind)
				for range lifeSteps {
					s.step()
					if s.agree(); t.Failed() {
						t.Fatalf("seed %d:\n%s", seed, s.told())
					}
				}
			}
		})
	}
}

// newServed begins with one to three prepaid services.
func newServed(t *testing.T, seed uint64, kind string) *served {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 77))
	plan := terms(events.Prepaid, 0)
	switch kind {
	case "day":
		plan.AnchorDay = []int{1, 15, 28}[random.IntN(3)]
	case "parts":
		plan.PartialPayment = events.PartIsDays
	default: // a month from its own beginning
	}
	if kind != "plain" && random.IntN(3) == 0 {
		plan.LateRenewal = events.FromExpiry
	}
	l := &life{
		worked: sold(t, plan), random: random, paidAt: map[id.Invoice]time.Time{}, bought: map[id.Invoice]time.Time{},
	}
	s := &served{
		life: l, kind: kind, since: map[*subscribers.Subscription]time.Time{l.line: l.at},
		given: map[*subscribers.Subscription]time.Duration{},
	}
	l.before = s.look
	for n := range random.IntN(3) {
		l.until(l.at.Add(time.Duration(random.IntN(20*24)) * time.Hour))
		l.does(commands.CreateSubscription{
			SubscriptionID: id.Derive[id.Subscription]("life", fmt.Sprint(n)), OrgID: l.line.Owner,
			SubscriberID: l.line.SubscriberID, Timezone: l.settings.Timezone, PlanVersion: 1, Terms: plan,
			Tax: l.settings.Tax,
		})
	}
	return s
}

// step does one thing at random.
func (s *served) step() {
	s.n++
	at := s.random.IntN(len(s.lines))
	switch s.random.IntN(11) {
	case 0, 1, 2, 3:
		s.waits()
	case 4, 5:
		s.brings()
	case 6:
		s.reverses()
		s.moved++
	case 7, 8:
		for range 1 + s.random.IntN(3) {
			s.takesBack(at)
			s.moved++
		}
	case 9:
		s.runsAgain()
	default:
		switch {
		case s.kind == "plain":
		case s.kind == "given" && s.random.IntN(2) == 0:
			s.compensates(at)
		default:
			s.pauses(at)
		}
	}
}

// look adds what a service has given since the last look; it is there before anything changes.
func (s *served) look(line *subscribers.Subscription) {
	from, to := s.since[line], s.at
	s.since[line] = to
	if line.State != subscribers.Active || from.IsZero() {
		return
	}
	if until := line.PaidUntil(); until.Before(to) {
		to = until
	}
	if from.Before(to) {
		s.given[line] += to.Sub(from)
	}
}

// agree compares what each service has given, and has still to give, with what is paid. While a period waits to be paid
// again, its time stands for others.
func (s *served) agree() {
	for n, line := range s.lines {
		s.look(line)
		if line.State == subscribers.Ended || line.State == subscribers.Pending || waitsAgain(line) {
			continue
		}
		now := s.at
		if line.State == subscribers.Paused {
			now = line.PausedAt
		}
		total := s.given[line]
		if until := line.PaidUntil(); until.After(now) {
			total += until.Sub(now)
		}
		paid, slack := s.paid(n, line)
		if d := total - paid; d > slack || d < -slack {
			s.t.Errorf("service %d: %s given and to come, %s paid: %s too many", n, total, paid, d)
		}
	}
}

// waitsAgain reports whether the place of a period that was served is to be paid again.
func waitsAgain(line *subscribers.Subscription) bool {
	for _, p := range line.Periods {
		if p.State == subscribers.PeriodWithdrawn || p.State == subscribers.PeriodDue && p.Retakes {
			return true
		}
	}
	return len(line.Course().Waiting) > 0
}

// paid is the time of all periods that are paid, without what was given back, and how exact that is.
func (s *served) paid(n int, line *subscribers.Subscription) (sum, slack time.Duration) {
	course, many := line.Course(), s.moved+len(line.Gaps)
	for i, p := range line.Periods {
		place := course.Places[i]
		switch {
		case p.State != subscribers.PeriodPaid:
		case s.kind == "day":
			days := int((place.To.Sub(place.From) + 24*time.Hour - 1) / (24 * time.Hour))
			if p.Paused+p.Free > days {
				s.t.Errorf("period %d of service %d has %d days, and gave back %d and %d", p.Ordinal, n, days,
					p.Paused, p.Free)
			}
			sum += time.Duration(days-p.Paused-p.Free) * 24 * time.Hour
			many++
		default:
			sum += place.To.Sub(place.From)
			for _, g := range line.Gaps {
				sum -= within(g, place)
			}
		}
	}
	if s.kind != "day" {
		return sum, time.Second
	}
	return sum, time.Duration(1+many) * 24 * time.Hour
}

// within is how long a span lasts inside another one.
func within(a, b subscribers.Span) time.Duration {
	if a.From.Before(b.From) {
		a.From = b.From
	}
	if a.To.After(b.To) {
		a.To = b.To
	}
	return max(0, a.To.Sub(a.From))
}
