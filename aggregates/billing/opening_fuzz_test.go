package billing_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/events"
)

// FuzzAccountOpening checks that a stored opening of an account is either a state whose money the next closing writes
// unchanged, or a clear stop.
func FuzzAccountOpening(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `{"currency":"KES","archived":"AAAA"}`, `{"currency":"KES","invoices":{"":{"total":1}}}`,
		`{"subscriber":"0195a000-0000-7000-8000-000000000011","org":"0195a000-0000-7000-8000-000000000001",` +
			`"currency":"KES","receipts":{` +
			`"0195a000-0000-7000-8000-000000000041":{"number":"A","amount":100,"unused":40,"seq":1,"to":[` +
			`{"invoice":"0195a000-0000-7000-8000-000000000021","amount":60}]}},` +
			`"lots":["0195a000-0000-7000-8000-000000000041"],"issued":1,"credited":1}`,
	} {
		f.Add([]byte(seed))
	}
	accounts := billing.Accounts()
	through := func(opening []byte) ([]byte, error) {
		state, err := accounts.Reopen(events.AccountPeriodClosed{Opening: opening})
		if err != nil {
			return nil, err
		}
		closed, _ := accounts.Close(state).(events.AccountPeriodClosed)
		return closed.Opening, nil
	}
	f.Fuzz(func(t *testing.T, body []byte) { written(t, through, body) })
}

// FuzzNumberingOpening checks the same of a stored opening of a number series, whose last number must not be lost.
func FuzzNumberingOpening(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `{"last":7}`, `{"org":"0195a000-0000-7000-8000-000000000001","last":9223372036854775807}`,
		`{"series":"0195a000-0000-7000-8000-000000000051","org":"0195a000-0000-7000-8000-000000000001","last":1,` +
			`"documents":{"0195a000-0000-7000-8000-000000000021":1}}`,
	} {
		f.Add([]byte(seed))
	}
	series := billing.NumberSeries()
	through := func(opening []byte) ([]byte, error) {
		state, err := series.Reopen(events.NumberingPeriodClosed{Opening: opening})
		if err != nil {
			return nil, err
		}
		closed, _ := series.Close(state).(events.NumberingPeriodClosed)
		return closed.Opening, nil
	}
	f.Fuzz(func(t *testing.T, body []byte) { written(t, through, body) })
}

// written wants reading and closing to give the same bytes the second time, or the first reading to stop with a reason.
func written(t *testing.T, through func([]byte) ([]byte, error), body []byte) {
	t.Helper()
	first, err := through(body)
	if err != nil {
		if !strings.Contains(err.Error(), "opening") {
			t.Fatalf("%s stops with %v", body, err)
		}
		return
	}
	if second, err := through(first); err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%s is written as %s, and then as %s, %v", body, first, second, err)
	}
}
