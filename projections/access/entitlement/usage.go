package entitlement

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// After is the cap that acts after one more event, which has an id; nil = none acts. The receiver may be nil and is not
// changed.
func (u *CapUse) After(e events.UsageEvent, recorded id.Event) *CapUse {
	switch v := e.(type) {
	case events.CapReached:
		return &CapUse{Since: v.At, EventID: recorded, Until: v.ResetsAt}
	case events.CapReset:
		return nil
	case events.CapPeriodMoved:
		if u != nil {
			return &CapUse{Since: u.Since, EventID: u.EventID, Until: v.ResetsAt}
		}
	case events.FirstSessionBegan, events.CapWarned, events.TopUpOrdered, events.TopUpAdded, events.UsagePeriodClosed:
	}
	return u
}
