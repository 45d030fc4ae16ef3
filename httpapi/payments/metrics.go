package paymentsapi

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// attentionTimeout bounds the counting of receipts at each scrape.
const attentionTimeout = 2 * time.Second

// ReceiptMetrics counts receipts that wait for a person: see docs/rules/money.md#alarms. When the count fails the
// scrape has no series, which an alarm for absent series notices.
func ReceiptMetrics(count func(ctx context.Context) (paymentsviews.Attention, error)) prometheus.Collector {
	return httpapi.NewGauges(
		prometheus.NewDesc("lastmile_receipts_attention",
			"Receipts that wait for a person: in suspense, disputed, or unclaimed for 48 hours.", []string{"why"}, nil),
		func(emit func(float64, ...string)) {
			ctx, cancel := context.WithTimeout(context.Background(), attentionTimeout)
			defer cancel()
			a, err := count(ctx)
			if err != nil {
				return
			}
			emit(float64(a.Suspense), "suspense")
			emit(float64(a.Disputed), "disputed")
			emit(float64(a.Unclaimed), "unclaimed")
		},
	)
}
