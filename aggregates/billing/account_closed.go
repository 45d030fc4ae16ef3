package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// decideCloseAccount closes the account once, unless a prompt is open whose money may be on its way.
func decideCloseAccount(s Account, c commands.CloseAccount, now time.Time) ([]events.AccountEvent, error) {
	switch {
	case s.Closed:
		return nil, nil
	case len(s.Prompts) > 0:
		return nil, errPaidSince()
	}
	b, err := opened(s, c.SubscriberID, c.OrgID, c.Currency, now)
	if err != nil {
		return nil, err
	}
	b.record(events.AccountClosed{SubscriberID: c.SubscriberID, OrgID: c.OrgID, Reason: c.Reason, At: now})
	return b.events(), nil
}
