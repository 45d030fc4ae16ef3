package accesscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access/course"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Preview runs a policy over the past [from, to) of all subscriptions that ever owed anything, and changes nothing.
// Fails: organization_not_found, invalid_input.
func (b Board) Preview(
	ctx context.Context, dunning accessviews.DunningQuery, org id.Organization, in PreviewInput,
) (course.Outcome, error) {
	settings, err := b.Settings(ctx, org)
	if err != nil {
		return course.Outcome{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return course.Outcome{}, err
	}
	policy, err := in.Policy.In(settings.Currency)
	var f failure.Faults
	f.Check(!in.To.After(b.Clock.Now()), "to", "must not be in the future")
	f.Check(in.From.Before(in.To), "from", "must be before to")
	err = failure.JoinFaults(f.Err(), failure.Under("policy.", err),
		failure.Under("policy.", commands.CheckDunningPolicy(policy)))
	if err != nil {
		return course.Outcome{}, err
	}
	owed, pauses, err := dunning.Histories(ctx, org, in.To)
	if err != nil {
		return course.Outcome{}, err
	}
	return course.Preview(course.NewRules(policy, zone, settings.Holidays), subjects(owed, pauses), in.From, in.To), nil
}

// PreviewInput is the policy and the part of the past over which it runs.
type PreviewInput struct {
	Policy   DunningInput
	From, To time.Time
}

// subjects makes the histories of rows, which are in the order of their subscriptions.
func subjects(owed []accessviews.OwedRow, pauses []accessviews.PauseRow) []course.Subject {
	stops := map[id.Subscription][]course.Pause{}
	for _, p := range pauses {
		stops[p.ID] = append(stops[p.ID], course.Pause{From: p.From, Until: null.Zero(p.Until)})
	}
	var list []course.Subject
	for _, r := range owed {
		if len(list) == 0 || list[len(list)-1].Subscription != r.ID {
			list = append(list, course.Subject{
				Subscription: r.ID, History: course.History{Pauses: stops[r.ID]},
			})
		}
		o := course.Owed{At: r.At, PaidUntil: null.Zero(r.PaidUntil)}
		for _, d := range r.Debts {
			o.Debts = append(o.Debts, course.Debt{DueOn: d.DueOn, Amount: d.Amount})
		}
		h := &list[len(list)-1].History
		h.Owed = append(h.Owed, o)
	}
	return list
}
