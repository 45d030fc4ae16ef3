package catalog

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestMoved_KnowsEveryEventWithMovedPeriods, so that no read model misses the one that is added next.
func TestMoved_KnowsEveryEventWithMovedPeriods(t *testing.T) {
	t.Parallel()
	subscription := id.Derive[id.Subscription]("test", "line")
	places := []events.PeriodPlace{{Ordinal: 1, InvoiceID: id.Derive[id.Invoice]("test", "invoice")}}
	var names []string
	for name, kind := range standard.types {
		field, has := kind.FieldByName("Moved")
		if !has || field.Type != reflect.TypeFor[[]events.PeriodPlace]() {
			continue
		}
		names = append(names, name)
		v := reflect.New(kind).Elem()
		v.FieldByName("SubscriptionID").Set(reflect.ValueOf(subscription))
		v.FieldByName("Moved").Set(reflect.ValueOf(places))
		e, _ := v.Interface().(events.Event)
		if of, moved := events.Moved(e); of != subscription || !cmp.Equal(moved, places) {
			t.Errorf("%s moves %v of %s", name, moved, of)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, slices.Sorted(slices.Values(events.MovingTypes()))); diff != "" {
		t.Errorf("(-events with moved periods +known)\n%s", diff)
	}
}
