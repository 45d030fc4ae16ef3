package commands

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// DunningPolicyCategory begins the names of the streams of dunning rules; the id is the organization's.
const DunningPolicyCategory = "dunningpolicy"

// Bounds on dunning rules. They keep typing errors out and every course finite.
const (
	// maxDunningDays bounds grace, walled garden and the distance of reminders from the due date.
	maxDunningDays = 365
	// maxWriteOffDays bounds the days to the proposal of a write-off.
	maxWriteOffDays = 3650
	// maxReminders bounds the reminders about one due date.
	maxReminders = 20
	// maxDunningPolicies bounds the named policies of an organization.
	maxDunningPolicies = 50
)

// dunningPolicyName is the form of a policy's name: it appears in plans and in the paths of faults.
var dunningPolicyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$`)

// DunningPolicyCommand is a command to the dunning rules of an organization.
//
//sumtype:decl
type DunningPolicyCommand interface {
	Command
	dunningPolicyCommand()
}

// SetDunningPolicies replaces all dunning rules of an organization.
type SetDunningPolicies struct {
	OrgID    id.Organization
	Default  events.DunningPolicy
	Policies map[string]events.DunningPolicy
}

func (SetDunningPolicies) CommandName() string { return "access.SetDunningPolicies" }

func (c SetDunningPolicies) Target() Target { return At(DunningPolicyCategory, c.OrgID) }

func (SetDunningPolicies) dunningPolicyCommand() {}

// Validate checks form. Faults name the policy and its field, such as "policies.night.graceDays".
func (c SetDunningPolicies) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(len(c.Policies) <= maxDunningPolicies, "policies", "must be at most %d", maxDunningPolicies)
	all := []error{nil, failure.Under("default.", CheckDunningPolicy(c.Default))}
	for _, name := range slices.Sorted(maps.Keys(c.Policies)) {
		if !dunningPolicyName.MatchString(name) {
			f.Add("policies", "must have names of 1 to 50 letters, digits, - and _")
			continue
		}
		all = append(all, failure.Under("policies."+name+".", CheckDunningPolicy(c.Policies[name])))
	}
	all[0] = f.Err()
	return failure.JoinFaults(all...)
}

// CheckDunningPolicy checks the form of one policy. Its faults name the policy's own fields. At least one day of the
// week must allow cuts, or nobody would ever be cut.
func CheckDunningPolicy(p events.DunningPolicy) error {
	var f failure.Faults
	days := func(field string, n, limit int) {
		f.Check(n >= 0 && n <= limit, field, "must be from %d to %d", 0, limit)
	}
	days("graceDays", p.GraceDays, maxDunningDays)
	days("walledGardenDays", p.WalledGardenDays, maxDunningDays)
	days("writeOffDays", p.WriteOffDays, maxWriteOffDays)
	f.Check(p.MinimumDue.Minor >= 0, "minimumDue", "must not be negative")
	checkReminderDays(&f, p.ReminderDays)
	checkNoCuts(&f, p)
	f.Check(p.MessageHours.From < p.MessageHours.To, "messageHours", "must have a from before its to")
	return f.Err()
}

// checkReminderDays wants every day once.
func checkReminderDays(f *failure.Faults, days []int) {
	f.Check(len(days) <= maxReminders, "reminderDays", "must be at most %d days", maxReminders)
	seen := map[int]bool{}
	for _, d := range days {
		if d < -maxDunningDays || d > maxDunningDays {
			f.Add("reminderDays", "must be days from -%d to %d", maxDunningDays, maxDunningDays)
			return
		}
		if seen[d] {
			f.Add("reminderDays", "must have each day once")
			return
		}
		seen[d] = true
	}
}

// checkNoCuts wants known days, and one on which cuts are allowed.
func checkNoCuts(f *failure.Faults, p events.DunningPolicy) {
	const known = "must be days from monday to sunday in small letters, not %s"
	blocked := map[events.Weekday]bool{}
	for _, d := range p.NoCutDays {
		if !d.Known() {
			f.Add("noCutDays", known, fmt.Sprintf("%q", d))
			return
		}
		blocked[d] = true
	}
	for _, d := range slices.Sorted(maps.Keys(p.NoCutAfter)) {
		if !d.Known() {
			f.Add("noCutAfter", known, fmt.Sprintf("%q", d))
			return
		}
		if p.NoCutAfter[d] == 0 {
			blocked[d] = true
		}
	}
	f.Check(len(blocked) < 7, "noCutDays", "must leave a day on which customers can be cut")
}
