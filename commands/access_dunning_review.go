package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CodeCutsWait is the code of a ReviewDunning that was refused because nobody is cut at present.
const CodeCutsWait = "cuts_wait"

// ReviewDunning takes the step that is due now by what a subscription owes, if any, and records what comes next.
// Processes leave Rules empty: accesscases.Reviews adds those that hold when the command is executed. Fails:
// invalid_input, cuts_wait.
type ReviewDunning struct {
	Subject events.DunningSubject
	PlanID  id.Plan
	Policy  string // the name in the plan; "" = the default policy
	Short   bool   // PlanTerms.ShortDunning of its plan
	// Timed is set when an instant asks for the review, and no event. The rules may lack a change of this moment then,
	// which asks for a review of its own.
	Timed bool `json:",omitempty"`
	// Owed is the history from the last instant without a course on, ascending; the last entry holds now.
	Owed  []events.DunningOwed
	Rules DunningRules `json:"-"`
	// CutsWait refuses a step that cuts: the platform was away, and money of that time may not be counted yet. Like
	// Rules it is added when the command is executed, and never stored.
	CutsWait bool `json:"-"`
	// CutsBy is the instant from which on a step that cuts is refused in the same way: whoever allowed it may know
	// better by then. Zero = never. It is added and not stored, like CutsWait.
	CutsBy time.Time `json:"-"`
}

// DunningRules are the rules of an organization for one plan.
type DunningRules struct {
	Policy   events.DunningPolicy
	Zone     *time.Location // of the organization; nil = the rules are not known
	Holidays []calendar.Date
}

// AskDunningReview asks for a review because rules have changed.
type AskDunningReview struct {
	Subject events.DunningSubject
}

func (ReviewDunning) CommandName() string    { return "access.ReviewDunning" }
func (AskDunningReview) CommandName() string { return "access.AskDunningReview" }

func (c ReviewDunning) Target() Target    { return dunningOf(c.Subject) }
func (c AskDunningReview) Target() Target { return dunningOf(c.Subject) }

func (ReviewDunning) dunningCommand()    {}
func (AskDunningReview) dunningCommand() {}

// Validate checks form. The decision needs the rules, which are added after this check.
func (c ReviewDunning) Validate() error {
	f := dunningFaults(c.Subject)
	f.Check(len(c.Owed) > 0, "owed", "is required")
	return f.Err()
}

// Validate checks form.
func (c AskDunningReview) Validate() error { return dunningFaults(c.Subject).Err() }
