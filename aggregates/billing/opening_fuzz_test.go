package billing_test

import (
	"bytes"
	"fmt"
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
		`{"subscriber":"0195a000-0000-7000-8000-000000000011","currency":"KES","receipts":{` +
			`"0195a000-0000-7000-8000-000000000041":{"number":"A","amount":100,"unused":40,"seq":1,"to":[` +
			`{"invoice":"0195a000-0000-7000-8000-000000000021","amount":60}]}},` +
			`"lots":["0195a000-0000-7000-8000-000000000041"],"issued":1,"credited":1}`,
	} {
		f.Add([]byte(seed))
	}
	accounts := billing.Accounts()
	through := func(opening []byte) (out []byte, stopped string) {
		defer func() {
			if p := recover(); p != nil {
				stopped = fmt.Sprint(p)
			}
		}()
		state := accounts.Evolve(billing.Account{}, events.AccountPeriodClosed{Opening: opening})
		closed, _ := accounts.Close(state).(events.AccountPeriodClosed)
		return closed.Opening, ""
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		first, stopped := through(body)
		if stopped != "" {
			if !strings.Contains(stopped, "opening") {
				t.Fatalf("%s stops with %s", body, stopped)
			}
			return
		}
		if second, stopped := through(first); stopped != "" || !bytes.Equal(first, second) {
			t.Fatalf("%s is written as %s, and then as %s %s", body, first, second, stopped)
		}
	})
}
