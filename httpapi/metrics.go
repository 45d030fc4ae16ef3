package httpapi

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/lastmile-isp/lastmile/projections/runner"
)

// httpMetrics counts requests by method, route and status, and measures the seconds that they take.
type httpMetrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// newHTTPMetrics registers the metrics at to; nil = they are kept, but not shown.
func newHTTPMetrics(to prometheus.Registerer) (*httpMetrics, error) {
	m := &httpMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "lastmile", Subsystem: "http", Name: "requests_total",
			Help: "Answered requests by route pattern.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "lastmile", Subsystem: "http", Name: "request_seconds",
			Help: "Time to answer.", Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "route"}),
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

// gauges shows values that other parts of the program hold; they are read at each scrape.
type gauges struct {
	desc   *prometheus.Desc
	values func(emit func(value float64, labels ...string))
}

// NewGauges makes a collector whose values are read at each scrape. values calls emit once for each series, with its
// labels in the order of desc.
func NewGauges(desc *prometheus.Desc, values func(emit func(value float64, labels ...string))) prometheus.Collector {
	return gauges{desc, values}
}

// Describe implements prometheus.Collector.
func (g gauges) Describe(to chan<- *prometheus.Desc) { to <- g.desc }

// Collect implements prometheus.Collector; it reads all values now.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	g.values(func(value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, value, labels...)
	})
}

// ProjectionMetrics shows lag and state of the read models, each with the name of the projection.
func ProjectionMetrics(status func() []runner.Status) []prometheus.Collector {
	return []prometheus.Collector{
		gauges{
			prometheus.NewDesc("lastmile_projection_lag", "Log positions not shown yet.", []string{"projection"}, nil),
			func(emit func(float64, ...string)) {
				for _, s := range status() {
					emit(float64(lag(s)), s.Name)
				}
			},
		},
		gauges{
			prometheus.NewDesc("lastmile_projection_stopped", "1 when an event could not be applied.",
				[]string{"projection"}, nil),
			func(emit func(float64, ...string)) {
				for _, s := range status() {
					emit(flag(s.State == runner.StateStopped), s.Name)
				}
			},
		},
		gauges{
			prometheus.NewDesc("lastmile_projection_rebuild_stopped",
				"1 when an event could not be applied to new tables; the present ones are still read.",
				[]string{"projection"}, nil),
			func(emit func(float64, ...string)) {
				for _, s := range status() {
					emit(flag(s.Rebuild != nil && s.Rebuild.Error != ""), s.Name)
				}
			},
		},
	}
}

// BreakerMetrics shows which outside systems are cut off: from the failure that opened the breaker until a call
// succeeds again, also while nobody calls. Targets are the platform's own names, never a customer's.
func BreakerMetrics(states func() []BreakerState) prometheus.Collector {
	return gauges{
		prometheus.NewDesc("lastmile_breaker_open",
			"1 from the failure that cut a system off until a call succeeds again.",
			[]string{"kind", "target"}, nil),
		func(emit func(float64, ...string)) {
			for _, b := range states() {
				emit(flag(b.State != "closed"), b.Kind, b.Target)
			}
		},
	}
}

// flag is 1 for true and 0 for false.
func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// MetricsHandler serves the metrics of a registry at /metrics, for a listener apart from the API's.
func MetricsHandler(from prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(from, promhttp.HandlerOpts{}))
	return mux
}
