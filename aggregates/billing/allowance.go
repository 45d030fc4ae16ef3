package billing

import (
	"maps"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Allowances defines what single people give away: one stream for each organization, person and local day.
func Allowances() aggregates.Definition[Allowance, commands.AllowanceCommand, events.AllowanceEvent] {
	return aggregates.Definition[Allowance, commands.AllowanceCommand, events.AllowanceEvent]{
		Category: commands.AllowanceCategory, Missing: commands.ErrNoAllowance, Evolve: evolveAllowance,
		Decide: decideAllowance, Owner: func(s Allowance) id.Organization { return s.Org },
		Commands: []commands.AllowanceCommand{commands.UseAllowance{}, commands.ReturnAllowance{}},
	}
}

// Allowance has the acts by which a person gave money away on a day. The zero value is nothing.
type Allowance struct {
	Org  id.Organization
	Acts map[id.Command]money.Amount
	Sum  money.Amount // of all acts
}

// evolveAllowance applies one recorded event.
func evolveAllowance(s Allowance, e events.AllowanceEvent) Allowance {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.AllowanceUsed:
		s.Org = e.OrgID
		s.Acts = maps.Clone(s.Acts)
		if s.Acts == nil {
			s.Acts, s.Sum = map[id.Command]money.Amount{}, money.Of(0, e.Amount.Currency)
		}
		s.Acts[e.ActID] = money.Of(s.Acts[e.ActID].Minor, e.Amount.Currency).Add(e.Amount)
		s.Sum = s.Sum.Add(e.Amount)
	case events.AllowanceReturned:
		s.Acts = maps.Clone(s.Acts)
		delete(s.Acts, e.ActID)
		s.Sum = s.Sum.Sub(e.Amount)
	}
	return s
}

// decideAllowance lets acts happen one after the other, so that two at once cannot both be the last within the limit.
func decideAllowance(s Allowance, c commands.AllowanceCommand, now time.Time) ([]events.AllowanceEvent, error) {
	switch c := c.(type) {
	case commands.UseAllowance:
		more := c.Amount.Sub(money.Of(s.Acts[c.ActID].Minor, c.Amount.Currency))
		if !more.Positive() {
			return nil, nil
		}
		if money.Of(s.Sum.Minor, c.Amount.Currency).Add(more).Cmp(c.Limit) > 0 {
			return nil, commands.ErrSecondPerson()
		}
		return []events.AllowanceEvent{events.AllowanceUsed{
			AllowanceID: c.AllowanceID, OrgID: c.OrgID, PersonID: c.PersonID, Date: c.Date, ActID: c.ActID,
			Kind: c.Kind, Amount: more, At: now,
		}}, nil
	case commands.ReturnAllowance:
		amount, used := s.Acts[c.ActID]
		if !used {
			return nil, nil
		}
		return []events.AllowanceEvent{events.AllowanceReturned{
			AllowanceID: c.AllowanceID, OrgID: s.Org, ActID: c.ActID, Amount: amount, At: now,
		}}, nil
	}
	return nil, nil
}
