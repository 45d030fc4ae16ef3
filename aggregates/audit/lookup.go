package audit

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Lookup is one question of which the audit log tells: who had an address, or what was recorded about something.
type Lookup = Record[id.Lookup]

// Lookups defines the records of these questions.
func Lookups() aggregates.Definition[Lookup, commands.LookupCommand, events.LookupEvent] {
	return records[id.Lookup, commands.LookupCommand](commands.LookupCategory, evolveLookup, writeLookup,
		commands.LookUpAddress{}, commands.ReadHistory{}, commands.ReadPersonalData{}, commands.ReadCallback{},
		commands.RetryCallback{})
}

// evolveLookup takes a question that was recorded.
func evolveLookup(s Lookup, e events.LookupEvent) Lookup {
	switch e := e.(type) {
	case events.AddressLookedUp:
		return Lookup{ID: e.LookupID, OrgID: e.OrgID}
	case events.HistoryRead:
		return Lookup{ID: e.LookupID, OrgID: e.OrgID}
	}
	return s
}

// writeLookup records a question.
func writeLookup(c commands.LookupCommand, now time.Time) []events.LookupEvent {
	switch c := c.(type) {
	case commands.LookUpAddress:
		return []events.LookupEvent{
			events.AddressLookedUp{LookupID: c.LookupID, OrgID: c.OrgID, SubscriberID: c.SubscriberID,
				Address: c.Address, HadAt: c.HadAt.UTC(), At: now},
		}
	case commands.ReadHistory:
		return []events.LookupEvent{
			events.HistoryRead{
				LookupID: c.LookupID, OrgID: c.OrgID, Category: c.Category, TargetID: c.TargetID, Look: c.Look,
				From: c.From.UTC(), Until: c.Until.UTC(), At: now,
			},
		}
	case commands.ReadPersonalData:
		return []events.LookupEvent{
			events.HistoryRead{
				LookupID: c.LookupID, OrgID: c.OrgID, Category: commands.SubscriberCategory,
				TargetID: id.Any(c.SubscriberID), Look: events.LookPersonalData, At: now,
			},
		}
	case commands.ReadCallback:
		return lookAtCallback(c.LookupID, c.CallbackID, events.LookCallback, now)
	case commands.RetryCallback:
		return lookAtCallback(c.LookupID, c.CallbackID, events.LookCallbackRetry, now)
	}
	return nil
}

// lookAtCallback records what somebody did with a message of the provider, which is the platform's.
func lookAtCallback(lookup id.Lookup, callback id.Any, look events.HistoryLook, now time.Time) []events.LookupEvent {
	return []events.LookupEvent{events.HistoryRead{
		LookupID: lookup, Category: commands.CallbackCategory, TargetID: callback, Look: look, At: now,
	}}
}
