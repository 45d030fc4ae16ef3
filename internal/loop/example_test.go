package loop_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// counter is an example of a service: it passes numbers on, every minute and whenever it is woken.
type counter struct {
	loops *loop.Group
	wake  chan struct{}
	given chan int
	sum   chan int
}

// newCounter makes a counter that is not started yet.
func newCounter(logger *slog.Logger) *counter {
	return &counter{
		loops: loop.New(logger), wake: make(chan struct{}, 1), given: make(chan int, 8), sum: make(chan int),
	}
}

// Start starts one goroutine. It needs ctx only until it returns.
func (c *counter) Start(ctx context.Context) error {
	return c.loops.Start(ctx, func(context.Context) error {
		c.loops.Go("count", c.run)
		return nil
	})
}

// Stop waits for the goroutine, and may be called twice.
func (c *counter) Stop() { c.loops.Stop() }

// Add hands a number over and wakes the goroutine. It blocks when 8 numbers wait.
func (c *counter) Add(n int) {
	c.given <- n
	loop.Wake(c.wake)
}

// run passes on the numbers that wait. Its rounds never fail, so Every does not fail either.
func (c *counter) run(ctx context.Context) {
	_ = loop.Every(ctx, time.Minute, c.wake, func(context.Context) error {
		for len(c.given) > 0 {
			c.sum <- <-c.given
		}
		return nil
	})
}

func Example() {
	c := newCounter(slog.New(slog.DiscardHandler))
	if err := c.Start(context.Background()); err != nil {
		fmt.Println(err)
	}
	c.Add(7)
	fmt.Println(<-c.sum)
	fmt.Println(c.Start(context.Background()))
	c.Stop()
	c.Stop()
	// Output:
	// 7
	// already started
}
