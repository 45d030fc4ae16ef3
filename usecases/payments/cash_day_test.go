package paymentscases_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// TestRecordCash_HasItsDayAndItsKind: the day is one of the organization's, in the past year or today, and the books
// have the money when it is recorded.
func TestRecordCash_HasItsDayAndItsKind(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	settings, err := usecases.BillingSettings(t.Context(), k.Bus, k.org)
	if err != nil {
		t.Fatal(err)
	}
	now := k.clock.Now()
	today := calendar.On(now, calendar.ZoneOrUTC(settings.Timezone))
	record := func(reference, kind string, on calendar.Date) (events.ReceiptRecorded, error) {
		made, err := k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), paymentscases.CashInput{
			SubscriberID: k.amina, Amount: "10", Reference: reference, Kind: kind, ReceivedOn: on,
		})
		if err != nil {
			return events.ReceiptRecorded{}, err
		}
		history, err := bus.HistoryUnchecked[payments.Receipt](t.Context(), k.Bus, made.ReceiptID)
		if err != nil {
			t.Fatal(err)
		}
		recorded, _ := history[0].Event.(events.ReceiptRecorded)
		return recorded, nil
	}
	for i, c := range []struct {
		kind, want string
		on, day    calendar.Date
	}{
		{"", "cash", calendar.Date{}, today}, {"cheque", "cheque", today.AddDays(-3), today.AddDays(-3)},
		{"bank_transfer", "bank_transfer", today, today}, {"other", "other", today.AddDays(-366), today.AddDays(-366)},
	} {
		r, err := record("book "+strings.Repeat("i", i+1), c.kind, c.on)
		if err != nil || r.Kind != c.want || r.ReceivedOn != c.day || !r.PaidAt.Equal(now) {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
	}
	for name, on := range map[string]calendar.Date{"tomorrow": today.AddDays(1), "long ago": today.AddDays(-367)} {
		_, err := record("book "+name, "cash", on)
		coretest.Faulty(t, name, err, "receivedOn")
	}
	_, err = record("book gold", "gold", today)
	coretest.Faulty(t, "an unknown kind", err, "kind")
}
