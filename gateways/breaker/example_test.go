package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

func Example() {
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	guard := breaker.New(breaker.Config{Clock: now, OnChange: func(s breaker.State) {
		fmt.Println("-", s.Target, "is", s.State)
	}})
	var router error // how the router behaves at present
	call := func() error {
		return guard.Do(context.Background(), "device", "tower-7", func(context.Context) error {
			fmt.Println("called")
			return router
		})
	}

	// The router's own refusal is an answer, so the router works.
	router = breaker.Answered(errors.New("no such item"))
	fmt.Println(call())

	// Five failures in a row open the breaker. The next caller gets a refusal with the time of the next probe.
	router = errors.New("no route to host")
	for range 5 {
		_ = call()
	}
	var refused *failure.Error
	fmt.Println(errors.As(call(), &refused), refused.Code, refused.RetryAfter)

	// After the cool-down one call is let through. It fails, so the next wait is twice as long.
	now.Advance(30 * time.Second)
	_ = call()
	fmt.Println(errors.As(guard.Ready("device", "tower-7"), &refused), refused.RetryAfter)

	now.Advance(time.Minute)
	router = nil
	fmt.Println(call())
	// Output:
	// called
	// no such item
	// called
	// called
	// called
	// called
	// called
	// - tower-7 is open
	// true device_unavailable 30s
	// - tower-7 is half_open
	// called
	// - tower-7 is open
	// true 1m0s
	// - tower-7 is half_open
	// called
	// - tower-7 is closed
	// <nil>
}
