package paymentsapi

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// attentionTimeout bounds the counting at each scrape.
const attentionTimeout = 2 * time.Second

// attentionAfter is how long money may be on its way to a place, and a prompt open after its end, before it counts.
const attentionAfter = 15 * time.Minute

// suspenseAge is how long money may wait in suspense before it is an alarm of its own.
const suspenseAge = 48 * time.Hour

// ReceiptMetrics counts receipts that wait for a person, and those that were forgotten: see docs/rules/money.md#alarms.
// When the count fails the scrape has no series, which an alarm for absent series notices.
func ReceiptMetrics(q paymentsviews.ReceiptsQuery, c clock.Clock) prometheus.Collector {
	return httpapi.NewGauges(
		prometheus.NewDesc("lastmile_receipts_attention",
			"Receipts that need somebody: in suspense, disputed, unclaimed for 48 hours, or without a place.",
			[]string{"why"}, nil),
		func(emit func(float64, ...string)) {
			ctx, cancel := context.WithTimeout(context.Background(), attentionTimeout)
			defer cancel()
			a, err := q.Attention(ctx, c.Now().Add(-attentionAfter), c.Now().Add(-suspenseAge))
			if err != nil {
				return
			}
			emit(float64(a.Suspense), "suspense")
			emit(float64(a.SuspenseOld), "suspense_old")
			emit(float64(a.Disputed), "disputed")
			emit(float64(a.Unclaimed), "unclaimed")
			emit(float64(a.Unplaced), "unplaced")
		},
	)
}

// SuspenseMetrics tells for how long the oldest money in suspense has waited, like ReceiptMetrics.
func SuspenseMetrics(q paymentsviews.ReceiptsQuery, c clock.Clock) prometheus.Collector {
	return httpapi.NewGauges(
		prometheus.NewDesc("lastmile_suspense_oldest_seconds",
			"For how long the oldest money in suspense has waited for a person; 0 = none waits.", nil, nil),
		func(emit func(float64, ...string)) {
			ctx, cancel := context.WithTimeout(context.Background(), attentionTimeout)
			defer cancel()
			a, err := q.Attention(ctx, c.Now().Add(-attentionAfter), c.Now().Add(-suspenseAge))
			switch {
			case err != nil:
			case a.SuspenseOldest == nil:
				emit(0)
			default:
				emit(c.Now().Sub(*a.SuspenseOldest).Seconds())
			}
		},
	)
}

// PromptMetrics counts open prompts whose end is uncertain, like ReceiptMetrics.
func PromptMetrics(q paymentsviews.PaymentsQuery, c clock.Clock) prometheus.Collector {
	return httpapi.NewGauges(
		prometheus.NewDesc("lastmile_prompts_attention",
			"Open payment prompts: in doubt, or without a verdict although they should have ended.", []string{"why"},
			nil),
		func(emit func(float64, ...string)) {
			ctx, cancel := context.WithTimeout(context.Background(), attentionTimeout)
			defer cancel()
			a, err := q.Attention(ctx, c.Now().Add(-attentionAfter))
			if err != nil {
				return
			}
			emit(float64(a.InDoubt), "in_doubt")
			emit(float64(a.NoVerdict), "no_verdict")
		},
	)
}

// RefundMetrics counts refunds that wait for a person, like ReceiptMetrics.
func RefundMetrics(q paymentsviews.RefundsQuery) prometheus.Collector {
	return httpapi.NewGauges(
		prometheus.NewDesc("lastmile_refunds_attention",
			"Refunds that have not ended: to be approved, to be settled, with the provider, or in doubt.",
			[]string{"why"}, nil),
		func(emit func(float64, ...string)) {
			ctx, cancel := context.WithTimeout(context.Background(), attentionTimeout)
			defer cancel()
			open, err := q.OpenOfAll(ctx)
			if err != nil {
				return
			}
			emit(float64(open.Requested), "requested")
			emit(float64(open.Approved), "approved")
			emit(float64(open.Submitted), "submitted")
			emit(float64(open.InDoubt), "in_doubt")
		},
	)
}
