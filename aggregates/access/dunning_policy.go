// Package access has the rules about who may use the network: the dunning rules of organizations.
package access

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// DunningPolicies defines the dunning rules: one stream for each organization that has changed them.
func DunningPolicies() aggregates.Definition[
	DunningRules, commands.DunningPolicyCommand, events.DunningPolicyEvent,
] {
	return aggregates.Definition[DunningRules, commands.DunningPolicyCommand, events.DunningPolicyEvent]{
		Category: commands.DunningPolicyCategory, Missing: commands.ErrNotFound, Evolve: evolveDunningRules,
		Decide: decideDunningRules, Owner: ownerDunningRules,
		Commands: []commands.DunningPolicyCommand{commands.SetDunningPolicies{}},
	}
}

// DunningRules are the dunning rules of one organization. The zero value is "never changed": DefaultDunningPolicy
// holds.
type DunningRules struct {
	Org      id.Organization
	Default  events.DunningPolicy
	Policies map[string]events.DunningPolicy
}

// DefaultDunningPolicy is the policy of an organization that has set none, in its currency. Source:
// docs/rules/access-dunning.md#default-policy.
func DefaultDunningPolicy(currency money.Currency) events.DunningPolicy {
	return events.DunningPolicy{
		ReminderDays: []int{-7, -3, 0}, GraceDays: 3, WalledGardenDays: 7, WriteOffDays: 60,
		MinimumDue: money.Major(50, currency),
		NoCutDays:  []events.Weekday{"saturday", "sunday"},
		NoCutAfter: map[events.Weekday]calendar.TimeOfDay{"friday": 16 * 60}, SkipHolidays: true,
		MessageHours: events.MessageHours{From: 8 * 60, To: 20 * 60},
	}
}

// In completes rules that were never changed with the default policy in the organization's currency.
func (s DunningRules) In(currency money.Currency) DunningRules {
	if s.Org.IsZero() {
		s.Default = DefaultDunningPolicy(currency)
	}
	return s
}

// Policy is the policy that a plan names; "" and a name that no longer exists give the default one, and false for the
// latter.
func (s DunningRules) Policy(name string) (events.DunningPolicy, bool) {
	if name == "" {
		return s.Default, true
	}
	p, ok := s.Policies[name]
	if !ok {
		return s.Default, false
	}
	return p, true
}

// Without lists the named policies that the given ones leave out, sorted.
func (s DunningRules) Without(policies map[string]events.DunningPolicy) []string {
	var gone []string
	for _, name := range slices.Sorted(maps.Keys(s.Policies)) {
		if _, stays := policies[name]; !stays {
			gone = append(gone, name)
		}
	}
	return gone
}

// ownerDunningRules is zero until the rules are set.
func ownerDunningRules(s DunningRules) id.Organization { return s.Org }

// evolveDunningRules applies one recorded event.
func evolveDunningRules(s DunningRules, e events.DunningPolicyEvent) DunningRules {
	switch e := e.(type) {
	case events.DunningPoliciesSet:
		return DunningRules{Org: e.OrgID, Default: e.Default, Policies: e.Policies}
	}
	return s
}

// decideDunningRules gives no event for equal rules. The order in which days are listed makes no difference.
func decideDunningRules(
	s DunningRules, c commands.DunningPolicyCommand, now time.Time,
) ([]events.DunningPolicyEvent, error) {
	switch c := c.(type) {
	case commands.SetDunningPolicies:
		set := events.DunningPoliciesSet{
			OrgID: c.OrgID, Default: inOrder(c.Default), Policies: map[string]events.DunningPolicy{}, At: now,
		}
		for name, p := range c.Policies {
			set.Policies[name] = inOrder(p)
		}
		if reflect.DeepEqual(s, DunningRules{Org: c.OrgID, Default: set.Default, Policies: set.Policies}) {
			return nil, nil
		}
		return []events.DunningPolicyEvent{set}, nil
	}
	return nil, nil
}

// inOrder sorts the lists of a policy and makes empty ones of absent ones, so that equal rules have one form.
func inOrder(p events.DunningPolicy) events.DunningPolicy {
	p.ReminderDays = append([]int{}, p.ReminderDays...)
	slices.Sort(p.ReminderDays)
	cuts := map[events.Weekday]bool{}
	for _, d := range p.NoCutDays {
		cuts[d] = true
	}
	p.NoCutDays = []events.Weekday{}
	for d := time.Monday; d <= time.Monday+6; d++ {
		if name := events.WeekdayOf(d % 7); cuts[name] {
			p.NoCutDays = append(p.NoCutDays, name)
		}
	}
	after := map[events.Weekday]calendar.TimeOfDay{}
	maps.Copy(after, p.NoCutAfter)
	p.NoCutAfter = after
	return p
}
