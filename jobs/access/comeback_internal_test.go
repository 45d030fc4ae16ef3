package accessjobs

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// slowRouter needs some seconds for an answer.
type slowRouter struct {
	Routers
	breakers *breaker.Set
	takes    time.Duration
}

// SignIns implements Routers.
func (r slowRouter) SignIns(ctx context.Context, device id.Device) (out routerplan.SignIns, err error) {
	return routerplan.SignIns{PPP: true}, r.breakers.Do(ctx, routeros.BreakerKind, device.String(),
		func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(r.takes):
				return nil
			}
		})
}

// TestComeback_ASlowRouterIsNotTakenForDead because enforcement waits less long for it than others do.
func TestComeback_ASlowRouterIsNotTakenForDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		breakers := breaker.New(breaker.Config{Clock: clock.System()})
		router := slowRouter{breakers: breakers, takes: comebackWait + time.Second}
		e := &Enforcer{Routers: router, Breakers: breakers}
		device := id.New[id.Device]()
		for range 20 {
			began := time.Now()
			if _, err := e.signIns(t.Context(), device); err == nil || time.Since(began) != comebackWait {
				t.Fatalf("waited %v: %v", time.Since(began), err)
			}
		}
		for _, s := range breakers.States() {
			if s.Failures > 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}
