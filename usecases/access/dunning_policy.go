// Package accesscases has the use cases about who may use the network.
package accesscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// DunningPolicies reads and sets the dunning rules of organizations. Safe for concurrent use.
type DunningPolicies struct {
	Bus *bus.Bus
	// Named lists which of some policies the organization's plans name; nil = no plan can name one.
	Named func(ctx context.Context, org id.Organization, names []string) ([]string, error)
}

// DunningSettings has the rules that hold in an organization.
type DunningSettings struct {
	Default  events.DunningPolicy
	Policies map[string]events.DunningPolicy // never nil
	Revision uint64                          // commands.NoRevision = they were never set
	Currency money.Currency                  // of the organization
}

// DunningChange has the rules to set; nil = the present ones stay. A given map replaces all named policies.
type DunningChange struct {
	Default  *DunningInput
	Policies map[string]DunningInput
}

// Read gives the rules that hold, from the log. Fails: organization_not_found.
func (d DunningPolicies) Read(ctx context.Context, org id.Organization) (DunningSettings, error) {
	rules, out, err := d.load(ctx, org)
	if err != nil {
		return DunningSettings{}, err
	}
	out.Default, out.Policies = rules.Default, rules.Policies
	if out.Policies == nil {
		out.Policies = map[string]events.DunningPolicy{}
	}
	return out, nil
}

// load reads the rules and what belongs to them, without the policies in the answer.
func (d DunningPolicies) load(ctx context.Context, org id.Organization) (access.DunningRules, DunningSettings, error) {
	billing, err := usecases.BillingSettings(ctx, d.Bus, org)
	if err != nil {
		return access.DunningRules{}, DunningSettings{}, err
	}
	rules, revision, err := bus.LoadUnchecked[access.DunningRules](ctx, d.Bus, org) // the id is the organization's own
	if err != nil {
		return access.DunningRules{}, DunningSettings{}, err
	}
	out := DunningSettings{Currency: billing.Currency, Revision: commands.NoRevision}
	if !rules.Org.IsZero() {
		out.Revision = revision
	}
	return rules.In(billing.Currency), out, nil
}

// Set replaces the rules that are given. A named policy can be left out only when no plan names it. A plan that is made
// at the same moment may still come to name one that goes: its subscriptions then follow the default policy. With
// If-Match the rules are changed at that revision only; without it, of two changes of the same part at the same moment
// the later one stays. Fails: organization_not_found, invalid_input, dunning_policy_in_use, stale_revision,
// concurrent_change.
func (d DunningPolicies) Set(ctx context.Context, asked usecases.Asked, in DunningChange) (bus.Result, error) {
	for try := 1; ; try++ {
		present, settings, err := d.load(ctx, asked.Org())
		if err != nil {
			return bus.Result{}, err
		}
		next, err := in.onto(present, settings.Currency)
		next.OrgID = asked.Org()
		if err := failure.JoinFaults(err, next.Validate()); err != nil {
			return bus.Result{}, err
		}
		if err := d.mayGo(ctx, asked.Org(), present.Without(next.Policies)); err != nil {
			return bus.Result{}, err
		}
		meta := asked.Meta
		conditional := meta.ExpectedRevision != nil
		if !conditional {
			meta.ExpectedRevision = &settings.Revision
		}
		done, err := d.Bus.Execute(ctx, next, meta)
		if conditional || failure.KindOf(err) != failure.Stale || try == setTries {
			return done, err
		}
	}
}

// setTries bounds how often a change is made again because another one came first.
const setTries = 4

// mayGo refuses to leave out a policy that a plan names.
func (d DunningPolicies) mayGo(ctx context.Context, org id.Organization, gone []string) error {
	if len(gone) == 0 || d.Named == nil {
		return nil
	}
	named, err := d.Named(ctx, org, gone)
	if err != nil || len(named) == 0 {
		return err
	}
	return failure.NewConflict("dunning_policy_in_use",
		"A plan names the dunning policy %s. Give the plan another policy first.", named[0])
}

// Known reports whether an organization has a policy of this name; "" is the default policy, which every organization
// has. Plans ask it before they name a policy. Fails: organization_not_found.
func (d DunningPolicies) Known(ctx context.Context, org id.Organization, name string) (bool, error) {
	rules, _, err := d.load(ctx, org)
	if err != nil {
		return false, err
	}
	_, known := rules.Policy(name)
	return known, nil
}

// onto applies the change to the present rules, without the organization's id.
func (in DunningChange) onto(
	present access.DunningRules, currency money.Currency,
) (commands.SetDunningPolicies, error) {
	next := commands.SetDunningPolicies{Default: present.Default, Policies: present.Policies}
	var faults []error
	read := func(path string, in DunningInput) events.DunningPolicy {
		p, err := in.In(currency)
		faults = append(faults, failure.Under(path, err))
		return p
	}
	if in.Default != nil {
		next.Default = read("default.", *in.Default)
	}
	if in.Policies != nil {
		next.Policies = map[string]events.DunningPolicy{}
		for name, p := range in.Policies {
			next.Policies[name] = read("policies."+name+".", p)
		}
	}
	return next, failure.JoinFaults(faults...)
}
