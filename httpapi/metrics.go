package httpapi

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// httpMetrics counts requests by method, route and status.
type httpMetrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// newHTTPMetrics makes the metrics and registers them.
func newHTTPMetrics(to prometheus.Registerer) (*httpMetrics, error) {
	m := &httpMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "lastmile", Subsystem: "http", Name: "requests_total",
			Help: "Answered requests by route pattern."}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "lastmile", Subsystem: "http", Name: "request_seconds",
			Help: "Time to answer.", Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}}, []string{"method", "route"}),
	}
	if to == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds} {
		if err := to.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}
