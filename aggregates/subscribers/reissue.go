package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// decideReissuePeriod names the corrected invoice as that of a period, wherever the period lies and whatever it is.
func decideReissuePeriod(s Subscription, c commands.ReissuePeriod, now time.Time) ([]events.SubscriptionEvent, error) {
	if s.find(c.CorrectedID) >= 0 {
		return nil, nil
	}
	at, err := s.wanted(c.InvoiceID)
	if err != nil || at < 0 || s.Periods[at].State == PeriodCancelled {
		return nil, err
	}
	place := s.Course().Places[at]
	return []events.SubscriptionEvent{events.PeriodReissued{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, InvoiceID: c.InvoiceID, CorrectedID: c.CorrectedID,
		Ordinal: s.Periods[at].Ordinal, From: place.From, To: place.To, At: now,
	}}, nil
}
