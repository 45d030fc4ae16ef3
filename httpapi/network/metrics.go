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

// RouterMetrics counts the routers that answer and cannot be compared with what they should have. When the count fails
// the scrape has no series, which an alarm for absent series notices.
func RouterMetrics(q networkviews.DevicesQuery) prometheus.Collector {
	return httpapi.NewGauges(
		prometheus.NewDesc("lastmile_routers_unchecked",
			"Routers that answer and could not be compared with what they should have.", nil, nil),
		func(emit func(float64, ...string)) {
			ctx, cancel := context.WithTimeout(context.Background(), countLimit)
			defer cancel()
			if n, err := q.Unchecked(ctx); err == nil {
				emit(float64(n))
			}
		},
	)
}
