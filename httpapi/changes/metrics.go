package changesapi

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/httpapi"
)

// Metrics shows how many streams are open, and what they were told.
func Metrics(h *Hub) []prometheus.Collector {
	count := func(name, help string, of func(Counts) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "lastmile", Subsystem: "stream", Name: name, Help: help,
		}, func() float64 { return float64(of(h.Counts())) })
	}
	return []prometheus.Collector{
		httpapi.NewGauges(
			prometheus.NewDesc("lastmile_streams_open", "Open streams of changes.", nil, nil),
			func(emit func(float64, ...string)) { emit(float64(h.Counts().Open)) },
		),
		count("messages_total", "Messages to all streams.", func(c Counts) uint64 { return c.Messages }),
		count("dropped_total", "Streams ended because their readers did not read.",
			func(c Counts) uint64 { return c.Dropped }),
		count("resets_total", "Readers who had to read everything again.", func(c Counts) uint64 { return c.Resets }),
	}
}
