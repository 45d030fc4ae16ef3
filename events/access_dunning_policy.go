package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// DunningPolicyEvent is an event of "dunningpolicy-<organization id>": by which rules an organization reminds and cuts
// customers who have not paid.
//
//sumtype:decl
type DunningPolicyEvent interface {
	Event
	dunningPolicyEvent()
}

// Weekday is the English name of a day in small letters, such as "friday".
type Weekday string

// WeekdayOf is the name that policies use for a day of the week.
func WeekdayOf(d time.Weekday) Weekday { return weekdays[d] }

// weekdays is indexed by time.Weekday, which begins with Sunday.
var weekdays = [...]Weekday{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// Known reports whether the name is one of the seven days.
func (w Weekday) Known() bool {
	for _, name := range weekdays {
		if w == name {
			return true
		}
	}
	return false
}

// DunningPolicy is one set of dunning rules. Days and times of day are those of the organization's zone. Source:
// docs/rules/access-dunning.md#policy-form.
type DunningPolicy struct {
	// ReminderDays are days relative to the due date on which the customer is reminded, ascending: -7 is a week before.
	ReminderDays     []int        `json:"reminderDays"`
	GraceDays        int          `json:"graceDays"`        // from the due instant to the walled garden
	WalledGardenDays int          `json:"walledGardenDays"` // from the real walled garden to the suspension
	WriteOffDays     int          `json:"writeOffDays"`     // from the due instant to the proposal of a write-off
	MinimumDue       money.Amount `json:"minimumDue"`       // a smaller postpaid debt causes nothing
	NoCutDays        []Weekday    `json:"noCutDays"`        // nobody is cut on these days
	// NoCutAfter is the time on a day from which nobody is cut until midnight.
	NoCutAfter   map[Weekday]calendar.TimeOfDay `json:"noCutAfter"`
	SkipHolidays bool                           `json:"skipHolidays"` // nobody is cut on the organization's holidays
	MessageHours MessageHours                   `json:"messageHours"`
}

// MessageHours is the part of a day [From, To) in which messages may be sent.
type MessageHours struct {
	From calendar.TimeOfDay `json:"from"`
	To   calendar.TimeOfDay `json:"to"`
}

// DunningPoliciesSet records all dunning rules of an organization; they replace those before.
type DunningPoliciesSet struct {
	OrgID    id.Organization          `json:"orgId"`
	Default  DunningPolicy            `json:"default"`  // of plans that name no policy
	Policies map[string]DunningPolicy `json:"policies"` // by the name that plans use
	At       time.Time                `json:"at"`
}

func (DunningPoliciesSet) EventType() string { return "access.DunningPoliciesSet.v1" }

func (DunningPoliciesSet) dunningPolicyEvent() {}
