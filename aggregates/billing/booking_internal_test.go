package billing

import (
	"reflect"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// TestWithBooks_EveryEventThatHasBooksGetsThem: one that was forgotten would say that an account has nothing left.
func TestWithBooks_EveryEventThatHasBooksGetsThem(t *testing.T) {
	t.Parallel()
	after := events.Books{Credit: money.Major(7, money.KES)}
	var have int
	for _, zero := range catalog.Events() {
		e, ok := zero.(events.AccountEvent)
		if !ok {
			continue
		}
		if _, has := reflect.TypeOf(zero).FieldByName("After"); !has {
			continue
		}
		have++
		if got := reflect.ValueOf(withBooks(e, after)).FieldByName("After").Interface(); got != after {
			t.Errorf("%s has the books %+v", e.EventType(), got)
		}
	}
	if have < 18 {
		t.Errorf("%d events have books", have)
	}
}
