package accesscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// ProcessBus executes the commands of processes, and encodes those that wait for their execution.
type ProcessBus interface {
	Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error)
	EncodeStored(cmd commands.Command) (name string, body []byte, err error)
	DecodeStored(name string, body []byte) (commands.Command, error)
}

// Reviews is a bus for processes. It adds to each ReviewDunning the rules that hold in the organization at present, to
// each late renewal what was served since the expiry where the plan counts it, and to each SellDays the days of the
// whole period; other commands pass unchanged. Safe for concurrent use.
type Reviews struct {
	ProcessBus
	rules   *bus.Bus
	present *presentRules
}

// NewReviews makes the bus of processes from one that passes commands on, and one from which the rules are read.
func NewReviews(next ProcessBus, rules *bus.Bus, c clock.Clock) Reviews {
	return Reviews{ProcessBus: next, rules: rules, present: &presentRules{clock: c}}
}

// Execute fails as the bus does, and with organization_not_found.
func (u Reviews) Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error) {
	switch c := cmd.(type) {
	case commands.ExtendSubscription:
		filled, err := withServed(ctx, u.rules, c)
		if err != nil {
			return bus.Result{}, err
		}
		cmd = filled
	case commands.SellDays:
		filled, err := withDays(ctx, u.rules, c, u.present.clock.Now())
		if err != nil {
			return bus.Result{}, err
		}
		cmd = filled
	case commands.ReviewDunning:
		rules, err := u.present.of(ctx, u.rules, c.Subject.OrgID, c.Timed)
		if err != nil {
			return bus.Result{}, err
		}
		cmd = rules.fill(c)
	}
	return u.ProcessBus.Execute(ctx, cmd, meta)
}
