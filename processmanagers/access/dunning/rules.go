package dunning

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Calendar is the state of a "dunning_rules" instance: the settings of the organization on which dunning depends.
type Calendar struct {
	Timezone string          `json:"timezone,omitempty"`
	Holidays []calendar.Date `json:"holidays,omitempty"`
	// Policies are the present ones by name, the default one under ""; nil = not known, or never set.
	Policies map[string]events.DunningPolicy `json:"policies,omitempty"`
}

// RulesProcess has one instance for each organization. When dunning policies, zone or holidays change, the
// subscriptions that owe something are reviewed by the new rules.
func RulesProcess() processmanagers.Process[Calendar] {
	return processmanagers.Process[Calendar]{
		Name: "dunning_rules",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.OrganizationCreated) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.BillingSettingsAdopted) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.DunningPoliciesSet) string { return e.OrgID.String() }),
		},
		Decide: decideRules, Evolve: evolveRules,
	}
}

// evolveRules keeps the present zone and holidays.
func evolveRules(s Calendar, in processmanagers.Input) Calendar {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.OrganizationCreated:
		s.Timezone, s.Holidays = e.Billing.Timezone, e.Billing.Holidays
	case events.BillingSettingsAdopted:
		s.Timezone, s.Holidays = e.Billing.Timezone, e.Billing.Holidays
	case events.DunningPoliciesSet:
		s.Policies = map[string]events.DunningPolicy{"": e.Default}
		maps.Copy(s.Policies, e.Policies)
	}
	return s
}

// decideRules asks for the reviews when something has changed that dunning depends on.
func decideRules(s Calendar, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	job := commands.FollowDunningRules{Position: in.Event.Position}
	switch e := in.Event.Event.(type) {
	case events.DunningPoliciesSet:
		job.OrgID, job.Unchanged = e.OrgID, s.unchanged(evolveRules(s, in))
	case events.BillingSettingsAdopted:
		after := evolveRules(s, in)
		if s.Timezone == after.Timezone && slices.Equal(s.Holidays, after.Holidays) {
			return processmanagers.Output{}, nil
		}
		job.OrgID = e.OrgID
	default:
		return processmanagers.Output{}, nil
	}
	return processmanagers.Output{Jobs: []commands.Job{job}}, nil
}

// unchanged lists the policies that are the same after a change, by name. The subscriptions of others are reviewed.
func (s Calendar) unchanged(after Calendar) []string {
	var same []string
	for _, name := range slices.Sorted(maps.Keys(s.Policies)) {
		policy, stays := after.Policies[name]
		if stays && reflect.DeepEqual(policy, s.Policies[name]) {
			same = append(same, name)
		}
	}
	return same
}
