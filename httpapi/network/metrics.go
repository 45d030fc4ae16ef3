package networkapi

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// countLimit bounds the counting at each scrape.
const countLimit = 2 * time.Second

// RouterMetrics counts the routers that differ from what they should have, by part, and those that answer and cannot be
// compared. When a count fails the scrape has no such series, which an alarm for absent series notices.
func RouterMetrics(devices networkviews.DevicesQuery, services networkviews.ServicesQuery) []prometheus.Collector {
	type count func(context.Context) (int, error)
	send := func(emit func(float64, ...string), n count, labels ...string) {
		ctx, cancel := context.WithTimeout(context.Background(), countLimit)
		defer cancel()
		if n, err := n(ctx); err == nil {
			emit(float64(n), labels...)
		}
	}
	return []prometheus.Collector{
		httpapi.NewGauges(
			prometheus.NewDesc("lastmile_routers_unchecked",
				"Routers that answer and could not be compared with what they should have.", nil, nil),
			func(emit func(float64, ...string)) { send(emit, devices.Unchecked) },
		),
		httpapi.NewGauges(
			prometheus.NewDesc("lastmile_routers_drifted",
				"Routers of which a part differs from what it should be.", []string{"part"}, nil),
			func(emit func(float64, ...string)) {
				send(emit, services.DriftedRouters, "services")
				send(emit, devices.SetupDrifted, "setup")
			},
		),
	}
}
