package billing_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// The ids of these tests.
var (
	giver   = id.Derive[id.User]("test", "giver")
	isp     = id.Derive[id.Organization]("test", "isp")
	march   = calendar.Date{Year: 2026, Month: time.March, Day: 1}
	actedAt = time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
)

// use gives so many shillings away in an act, of at most 100 a day.
func use(act string, major int64) commands.UseAllowance {
	return commands.UseAllowance{
		AllowanceID: commands.AllowanceOf(isp, giver, march), OrgID: isp, PersonID: giver, Date: march,
		ActID: id.Derive[id.Command]("test", act), Kind: events.ActWriteOff, Amount: money.Major(major, money.KES),
		Limit: money.Major(100, money.KES),
	}
}

// used records that an act of use may be done.
func used(act string, major int64) events.AllowanceUsed {
	c := use(act, major)
	return events.AllowanceUsed{
		AllowanceID: c.AllowanceID, OrgID: c.OrgID, PersonID: c.PersonID, Date: c.Date, ActID: c.ActID, Kind: c.Kind,
		Amount: c.Amount, At: actedAt,
	}
}

// allowanceScenario is an example about one person and day.
type allowanceScenario = decidertest.Scenario[billing.Allowance, commands.AllowanceCommand, events.AllowanceEvent]

func TestAllowance_ManySmallActsAreOneLargeOne(t *testing.T) {
	t.Parallel()
	at := func(list ...events.AllowanceEvent) *allowanceScenario {
		return decidertest.For(t, billing.Allowances(), actedAt).Given(list...)
	}
	at().When(use("one", 100)).Then(used("one", 100))
	at().When(use("one", 101)).ThenFails("second_person_needed")
	at(used("one", 60)).When(use("two", 40)).Then(used("two", 40))
	at(used("one", 60)).When(use("two", 41)).ThenFails("second_person_needed")
	at(used("one", 60), used("two", 40)).When(use("one", 60)).ThenNothing()
	at(used("one", 60), used("two", 40)).When(use("three", 1)).ThenFails("second_person_needed")
	// An act that grew is counted with what it grew by.
	at(used("one", 60)).When(use("one", 90)).Then(used("one", 30))
	at(used("one", 60)).When(use("one", 101)).ThenFails("second_person_needed")
}

func TestAllowance_ARefusedActGivesBackWhatItTook(t *testing.T) {
	t.Parallel()
	back := commands.ReturnAllowance{AllowanceID: use("one", 1).AllowanceID, ActID: use("one", 1).ActID}
	returned := events.AllowanceReturned{
		AllowanceID: back.AllowanceID, OrgID: isp, ActID: back.ActID, Amount: money.Major(90, money.KES), At: actedAt,
	}
	at := func(list ...events.AllowanceEvent) *allowanceScenario {
		return decidertest.For(t, billing.Allowances(), actedAt).Given(list...)
	}
	at(used("one", 60), used("one", 30)).When(back).Then(returned)
	at(used("one", 90), returned).When(back).ThenNothing()
	at(used("one", 90), returned).When(use("two", 100)).Then(used("two", 100))
	at(used("two", 90)).When(back).ThenNothing()
}
