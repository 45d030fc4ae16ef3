package reportsapi

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// TestToday_SuspenseIsNotAddedAcrossCurrencies: money in another currency than the organization's stands by itself.
func TestToday_SuspenseIsNotAddedAcrossCurrencies(t *testing.T) {
	t.Parallel()
	first, second := time.Unix(1000, 0).UTC(), time.Unix(2000, 0).UTC()
	held := func(currency money.Currency, minor int64, n int, at time.Time) paymentsviews.CurrencySuspense {
		return paymentsviews.CurrencySuspense{
			Currency: currency, Suspense: paymentsviews.Suspense{AmountMinor: minor, Count: n, OldestAt: &at},
		}
	}
	for _, c := range []struct {
		list []paymentsviews.CurrencySuspense
		want string
	}{
		{nil, `{"amount":0,"count":0,"oldestAt":null,"late":0,"alarmDays":0,"others":[]}`},
		{
			[]paymentsviews.CurrencySuspense{held(money.KES, 90000, 2, first), held("UGX", 700, 1, second)},
			`{"amount":700,"count":3,"oldestAt":"1970-01-01T00:16:40Z","late":0,"alarmDays":0,"others":[` +
				`{"currency":"KES","amount":900.00,"count":2,"oldestAt":"1970-01-01T00:16:40Z","late":0}]}`,
		},
	} {
		got, err := json.Marshal(shown{"UGX"}.suspense(c.list))
		if err != nil || string(got) != c.want {
			t.Errorf("%s, %v; want %s", got, err, c.want)
		}
	}
}
