package identity

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// decideApprovalLimit lets an administrator who is the only one do everything, and others lower a limit or begin with
// one. It is decided here, on the stream that knows how many administrators there are at this moment. Who has just
// released the others is not the only one yet.
func decideApprovalLimit(
	s Organization, c commands.SetApprovalLimit, now time.Time,
) ([]events.OrganizationEvent, error) {
	several := len(s.Administrators) > 1 || now.Before(s.ReleasedAt.Add(commands.SecondPersonAfter))
	present := s.ApprovalLimit
	switch {
	case c.Limit != nil && c.Limit.Currency != s.Billing.Currency:
		return nil, commands.ErrCurrencyMismatch(s.Billing.Currency)
	case c.Approved && (present == nil || *present != c.Before):
		return nil, commands.ErrApprovalOutdated()
	case present == nil && c.Limit == nil, present != nil && c.Limit != nil && *present == *c.Limit:
		return nil, nil
	case present != nil && (c.Limit == nil || c.Limit.Cmp(*present) > 0) && !c.Approved && several:
		return nil, commands.ErrSecondPerson()
	case c.Limit == nil:
		return []events.OrganizationEvent{events.ApprovalLimitRemoved{OrgID: s.ID}}, nil
	}
	return []events.OrganizationEvent{events.ApprovalLimitSet{OrgID: s.ID, Limit: *c.Limit}}, nil
}
