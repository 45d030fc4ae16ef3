package catalog

import (
	"reflect"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// anyID is the type to which ids in payloads are converted.
var anyID = reflect.TypeFor[id.Any]()

// aggregateOf finds the aggregate of an event that was recorded before metadata had its id. For aggregates with several
// periods the payload has the id, because the name of a later period does not show it. Every other stream is named
// after its aggregate. The result is zero when neither has the id, never the id of a period.
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

// aggregateField is the name of the field with the aggregate's id, in events whose stream can be a later period; "" for
// others. An aggregate that gets periods in the future needs no line here: its new events have the id in their
// metadata, and its old ones are all in first periods.
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
	case events.AddressingEvent: // one address plan for each organization, under the organization's id
		return "OrgID"
	}
	return ""
}
