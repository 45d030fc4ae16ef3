package bus_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// BenchmarkExecute is commands a second on one stream for each of 64 callers.
func BenchmarkExecute(b *testing.B) {
	engine := bus.New(bus.Config{Store: storetest.New(b).Store, Claims: storetest.ClaimKey, Clock: clock.System(), Logger: storetest.Quiet()})
	bus.Register(engine, counters())
	org := id.New[id.Organization]()
	meta := func() commands.Meta {
		return commands.Meta{CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorOperator}}
	}
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		c := id.New[id.Subscriber]()
		if _, err := engine.Execute(b.Context(), open{ID: c, Org: org}, meta()); err != nil {
			b.Error(err)
			return
		}
		for pb.Next() {
			if _, err := engine.Execute(b.Context(), add{ID: c, Step: 1}, meta()); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
}
