package bus_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// benchCallers is the number of callers that execute at the same time, each on its own stream.
const benchCallers = 64

// BenchmarkExecute measures commands per second, and compares them with appends per second by as many writers to the
// same log.
func BenchmarkExecute(b *testing.B) {
	kit := storetest.New(b)
	engine := bus.New(bus.Config{
		Store: kit.Store, Claims: storetest.ClaimKey, Clock: clock.System(), Logger: storetest.Quiet(),
	})
	bus.Register(engine, counters())
	org := id.New[id.Organization]()
	meta := func() commands.Meta {
		return commands.Meta{
			CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorOperator},
		}
	}
	var owned [benchCallers]id.Subscriber
	for i := range owned {
		owned[i] = id.New[id.Subscriber]()
		if _, err := engine.Execute(b.Context(), open{ID: owned[i], Org: org}, meta()); err != nil {
			b.Fatal(err)
		}
	}
	appended := 0
	for b.Loop() {
		benchtest.Compare(b, "commands/s", benchtest.NoAim, func() float64 {
			return benchtest.Rate(b, benchCallers, func(ctx context.Context, caller int) error {
				_, err := engine.Execute(ctx, add{ID: owned[caller], Step: 1}, meta())
				return err
			})
		}, func() float64 {
			appended++
			var next [benchCallers]eventstore.Expected
			for i := range next {
				next[i] = eventstore.NoStream
			}
			return benchtest.Rate(b, benchCallers, func(ctx context.Context, caller int) error {
				m := events.Metadata{
					EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: org, Action: "bench",
					At: clock.System().Now(), Actor: events.Actor{Kind: events.ActorOperator},
				}
				done, err := kit.Store.Append(ctx, fmt.Sprintf("bench-%d-%d", appended, caller), next[caller],
					[]eventstore.New{
						{Event: events.PlanArchived{PlanID: id.New[id.Plan](), Reason: "measured"}, Meta: m},
					})
				next[caller] = eventstore.At(done.Revision)
				return err
			})
		})
	}
}
