package accesscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/usecases"
)

// ProcessBus executes the commands of processes, and encodes those that wait for their execution.
type ProcessBus interface {
	Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error)
	EncodeStored(cmd commands.Command) (name string, body []byte, err error)
	DecodeStored(name string, body []byte) (commands.Command, error)
}

// Reviews is a bus for processes. It adds to each ReviewDunning the rules that hold in the organization at present;
// other commands pass unchanged. Safe for concurrent use.
type Reviews struct {
	ProcessBus
	Rules *bus.Bus // from which the rules are read
}

// Execute fails as the bus does, and with organization_not_found.
func (u Reviews) Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error) {
	if c, ok := cmd.(commands.ReviewDunning); ok {
		rules, settings, err := DunningPolicies{Bus: u.Rules}.load(ctx, c.Subject.OrgID)
		if err != nil {
			return bus.Result{}, err
		}
		billing, err := usecases.BillingSettings(ctx, u.Rules, c.Subject.OrgID)
		if err != nil {
			return bus.Result{}, err
		}
		c.Rules.Policy, _ = rules.In(settings.Currency).Policy(c.Policy)
		c.Rules.Timezone, c.Rules.Holidays = billing.Timezone, billing.Holidays
		cmd = c
	}
	return u.ProcessBus.Execute(ctx, cmd, meta)
}
