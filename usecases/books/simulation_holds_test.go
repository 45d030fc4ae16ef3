package bookscases_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// next is the review that accesscases.Holds makes for its answer, by what the stream alone knows.
func (d *dunned) next(of id.Subscription) events.DunningReviewed {
	now := d.states[id.As[id.Any](of)]
	if now.Reviewed.State == "" {
		return now.Reviewed
	}
	list, err := access.Dunnings().Decide(now, commands.ReviewDunning{
		Subject: now.Subject, PlanID: now.Reviewed.PlanID, Short: d.s.line(of).Terms.ShortDunning(), Owed: now.Owed(),
		Rules: commands.DunningRules{Policy: d.policy, Zone: d.zone},
	}, d.s.now)
	if err != nil {
		d.s.fail("%v", err)
	}
	for _, e := range list {
		if review, ok := e.(events.DunningReviewed); ok {
			return review
		}
	}
	return now.Reviewed
}

// TestSimulation_TheAnswerOfAHoldIsWhatItsReviewFinds: whoever has owed and paid what before.
func TestSimulation_TheAnswerOfAHoldIsWhatItsReviewFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(t)
		s.withDunning()
		d := s.dunned
		d.policy.GraceDays = rapid.IntRange(0, 5).Draw(t, "grace")
		d.policy.WalledGardenDays = rapid.IntRange(0, 9).Draw(t, "walled garden")
		unit := rapid.SampledFrom([]calendar.Period{calendar.Week, calendar.Month}).Draw(t, "unit")
		for _, who := range s.who {
			mode := rapid.SampledFrom([]events.BillingMode{events.Postpaid, events.Prepaid}).Draw(t, "mode")
			s.must(s.subscription(made[id.Subscription](s), who, mode, unit))
		}
		all, holds := weighted(operations()), d.pauses()[:2]
		for range rapid.IntRange(5, 30).Draw(t, "operations") {
			s.operate(slices.Concat(all, d.pauses()))
			s.elapse(s.jump(unit))
			s.operate(holds)
			answers := map[id.Subscription]events.DunningReviewed{}
			for _, of := range s.subscriptions {
				answers[of] = d.next(of)
			}
			s.rest()
			for of, answer := range answers {
				found := d.states[id.As[id.Any](of)].Reviewed
				late := found.NextAt.Sub(answer.NextAt) // what begins with the review begins a moment after the answer
				if answer.State == "" || answer.NextState == found.NextState && late >= 0 && late < time.Second {
					continue
				}
				s.fail("the answer about %s is %s at %s, the review says %s at %s", of, answer.NextState,
					answer.NextAt, found.NextState, found.NextAt)
			}
		}
	})
}
