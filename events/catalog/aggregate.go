package catalog

import (
	"reflect"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// anyID is what the ids in payloads are turned into.
var anyID = reflect.TypeFor[id.Any]()

// aggregateOf finds the aggregate of an event that was recorded before metadata named it. Events of aggregates whose
// streams are closed into periods carry its id in the payload: the name of a later period does not tell it. Every other
// stream is named by its aggregate. It gives zero when neither tells: a period is never taken for an aggregate.
func aggregateOf(e events.Event, stream string) id.Any {
	if name := aggregateField(e); name != "" {
		field := reflect.ValueOf(e).FieldByName(name)
		//nolint:forcetypeassert // just converted; a test goes over all types
		return field.Convert(anyID).Interface().(id.Any)
	}
	_, text, _ := strings.Cut(stream, "-")
	own, err := id.Parse[id.Any](text)
	if err != nil {
		return id.Any{}
	}
	return own
}

// aggregateField names the field with the aggregate's id in events whose stream may be a later period, "" for others.
// An aggregate that is given periods from now on needs no line here: its new events say in their metadata what they are
// of, and its old ones are all in first periods.
func aggregateField(e events.Event) string {
	switch e.(type) {
	case events.AccountEvent:
		return "SubscriberID"
	case events.NumberingEvent:
		return "SeriesID"
	case events.SubscriptionEvent:
		return "SubscriptionID"
	case events.DeviceEvent:
		return "DeviceID"
	case events.ServiceEvent:
		return "ServiceID"
	case events.ReconcileEvent:
		return "RunID"
	case events.AddressingEvent: // one address plan for each organization, under its id
		return "OrgID"
	}
	return ""
}
